// What people read in their mail.

interface Letter {
  readonly subject: string;
  readonly text: string;
}

const UNASKED = 'If you did not ask for this, there is nothing to do: nothing has changed.';

export function signUpMail(link: string): Letter {
  return {
    subject: 'Finish signing up at Storybar',
    text: `Choose a password to finish signing up. The link works once, for an hour:\n\n${link}\n\n${UNASKED}\n`,
  };
}

export function takenMail(link: string): Letter {
  return {
    subject: 'You have a Storybar account',
    text:
      'Somebody, probably you, wanted to sign up with this address. It has an account already: sign in as usual, or ' +
      `choose a new password. The link works once, for an hour:\n\n${link}\n\n${UNASKED}\n`,
  };
}

export function resetMail(link: string): Letter {
  return {
    subject: 'Choose a new Storybar password',
    text: `Choose a new password. The link works once, for an hour:\n\n${link}\n\n${UNASKED}\n`,
  };
}
