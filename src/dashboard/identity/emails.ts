// The emails that the service sends to users.

export interface EmailText {
  readonly subject: string;
  readonly text: string;
}

/** What an email is for, as logged when it can't be sent. */
export type EmailPurpose = 'sign-up' | 'account-exists' | 'password-reset';

const LINK_NOTE = 'The link works once and expires in an hour:';
const IGNORE_NOTE = "If this wasn't you, you can ignore this email.";

export const EMAILS: Readonly<Record<EmailPurpose, (link: string) => EmailText>> = {
  'sign-up': (link) => ({
    subject: 'Confirm your email address for Storybar',
    text:
      'Your test key works already. Confirm your email address to create live keys and to sign in on other devices. The ' +
      `link works once and expires in three days:\n\n${link}\n\n` +
      'If you open the link on another device, enter the password you chose when you signed up.\n\n' +
      "If you didn't sign up, ignore this email.\n",
  }),
  'account-exists': (link) => ({
    subject: 'You already have a Storybar account',
    text:
      'Someone (hopefully you) tried to sign up with this email, but you already have an account. Sign in as usual, or ' +
      `choose a new password. ${LINK_NOTE}\n\n${link}\n\n${IGNORE_NOTE}\n`,
  }),
  'password-reset': (link) => ({
    subject: 'Reset your Storybar password',
    text: `Choose a new password. ${LINK_NOTE}\n\n${link}\n\n${IGNORE_NOTE}\n`,
  }),
};
