// Messages for visitors who couldn't sign in with a provider.

import type { ProviderProblem } from './provider-sign-in.ts';

interface ProblemText {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

/** `name` is the name of the provider. */
export function problemText(problem: ProviderProblem, name: string): ProblemText {
  const texts: Readonly<Record<ProviderProblem, ProblemText>> = {
    denied: {
      status: 422,
      title: 'Sign-in canceled',
      text: `You didn’t allow ${name} to tell us who you are. Nothing was changed.`,
    },
    unavailable: {
      status: 503,
      title: `${name} isn’t available`,
      text: `${name} isn’t responding. Try again in a few minutes, or sign in another way.`,
    },
    failed: {
      status: 422,
      title: 'Sign-in failed',
      text: `${name} couldn’t confirm who you are. Try again, or sign in another way.`,
    },
    'no email': {
      status: 422,
      title: 'No confirmed email address',
      text: `${name} hasn’t confirmed your primary email address. Confirm it at ${name} and try again.`,
    },
    expired: {
      status: 422,
      title: 'This sign-in has expired',
      text: 'It took too long, was used before, or was started in another browser. Start again.',
    },
    closed: {
      status: 422,
      title: 'Sign-up is closed',
      text: `No account here uses your ${name} account’s email address. Ask the operator for an invitation.`,
    },
    'known address': {
      status: 422,
      title: 'You already have an account',
      text: `An account here uses the email address of your ${name} account. Sign in with its password, then connect ${name} on the Security page.`,
    },
    operator: {
      status: 422,
      title: 'Sign in with your password first',
      text: `This is the operator’s address. Sign in with the password, then connect ${name} on the Security page.`,
    },
    'other identity': {
      status: 422,
      title: `Another ${name} account is connected`,
      text: `Your account is connected to another ${name} account. Disconnect that one first.`,
    },
    taken: {
      status: 422,
      title: `This ${name} account is taken`,
      text: `It’s connected to another Storybar account. Disconnect it there first.`,
    },
    'signed out': {
      status: 422,
      title: 'You’re signed out',
      text: `You were signed out before you came back from ${name}. Sign in and connect it again.`,
    },
  };
  return texts[problem];
}
