// What a page says after something was done. The address names one of these; nothing else can be put into a page that way.

const NOTES: Readonly<Record<string, string>> = {
  'signed-out': 'You are signed out.',
  'signed-out-everywhere': 'You are signed out on every device.',
  password: 'The password is changed. Every other device is signed out.',
  'key-saved': 'The key is saved.',
  'key-revoked': 'The key is revoked. It stopped working at once.',
  'plan-now': 'Your plan is set. It counts from now on.',
  'plan-next': 'Your plan changes when the period ends. Until then you keep what you have.',
  paid: 'Thank you. Your plan is shown below; a payment may take a minute to arrive.',
  cancelled: 'Your subscription ends with the period. Until then everything works.',
  resumed: 'Your subscription goes on.',
  suspended: 'The account is suspended. Its keys stopped working at once.',
  'account-resumed': 'The account works again.',
  'account-plan': 'The plan of the account is changed.',
};

export function noteFor(query: unknown): string | undefined {
  const { done } = query as { done?: unknown };
  return typeof done === 'string' && Object.hasOwn(NOTES, done) ? NOTES[done] : undefined;
}
