// The emails that the service sends to users.

export interface EmailText {
  readonly subject: string;
  readonly text: string;
}

/** The purpose of an email, as logged when it can't be sent. */
export type EmailPurpose =
  | 'sign-up'
  | 'account-exists'
  | 'password-reset'
  | 'email-change'
  | 'email-changed'
  | SecurityChange;

/** Changes that users are notified of, in case someone else made them. */
export type SecurityChange = 'passkey-added' | 'two-factor-off';

const LINK_NOTE = 'The link works once and expires in an hour:';
const SECURITY_NOTE = "If this wasn't you, reset your password immediately, and check the security of your account:";
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
    subject: 'Your link to sign in to Storybar',
    text: `Sign in without your password, or choose a new one. ${LINK_NOTE}\n\n${link}\n\n${IGNORE_NOTE}\n`,
  }),
  'email-change': (link) => ({
    subject: 'Confirm your new email address for Storybar',
    text: `Confirm that this is your new address. The link works once and expires in three days:\n\n${link}\n\n${IGNORE_NOTE}\n`,
  }),
  'email-changed': (link) => ({
    subject: 'The email address of your Storybar account was changed',
    text:
      "This address can no longer be used to sign in. If you didn't change it, contact support immediately, and say which " +
      `address you had:\n\n${link}\n`,
  }),
  'passkey-added': (link) => ({
    subject: 'A passkey was added to your Storybar account',
    text: `You can now sign in with it, without your password. ${SECURITY_NOTE}\n\n${link}\n`,
  }),
  'two-factor-off': (link) => ({
    subject: 'Two-factor authentication was turned off for your Storybar account',
    text: `Your password alone is now enough to sign in. ${SECURITY_NOTE}\n\n${link}\n`,
  }),
};

/** Sent without a link to an address that has an account, because a user can't take it over. */
export const EMAIL_TAKEN: EmailText = {
  subject: 'Your address was entered for another Storybar account',
  text:
    'Someone (hopefully you) tried to change the address of their Storybar account to this one, but you already have an ' +
    `account with it. Nothing has changed. ${IGNORE_NOTE}\n`,
};

export function invitation(inviter: string, link: string): EmailText {
  return {
    subject: 'You are invited to a Storybar account',
    text:
      `${inviter} invited you to a Storybar account. To join, choose a password. The link works once and expires in ` +
      `a week:\n\n${link}\n\nIf you don't know ${inviter}, ignore this email.\n`,
  };
}

/** Sent to an address that has an account, because a user belongs to one account only. */
export function knownInvitation(inviter: string): EmailText {
  return {
    subject: 'You are invited to a Storybar account',
    text:
      `${inviter} invited you to a Storybar account, but this address has an account of its own. To join, ask for an ` +
      `invitation to another address, or delete your account first.\n\nIf you don't know ${inviter}, ignore this email.\n`,
  };
}

/** The link leads to the page where the user can disconnect the provider. */
export function providerLinked(providerName: string, link: string): EmailText {
  return {
    subject: `${providerName} was connected to your Storybar account`,
    text:
      `You can sign in with ${providerName} from now on. If you didn't connect it, disconnect it here, change your ` +
      `password, and end other sessions:\n\n${link}\n`,
  };
}
