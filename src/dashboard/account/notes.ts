// Confirmations shown after an action. The URL only names one of them, so a link can't put other text into a page.

const NOTES: Readonly<Record<string, string>> = {
  'signed-out': 'You’re signed out.',
  'signed-out-everywhere': 'You’re signed out on all devices.',
  'session-ended': 'That device is signed out.',
  'others-signed-out': 'All other devices are signed out.',
  invited: 'We’ve sent the invitation.',
  'invitation-revoked': 'Invitation revoked.',
  'role-changed': 'Role changed.',
  'member-removed': 'Member removed. They’re signed out everywhere.',
  'member-and-keys-removed': 'Member removed and signed out everywhere. The keys they created are revoked.',
  'passkey-added': 'Passkey added. You can sign in with it from now on.',
  'passkey-removed': 'Passkey removed.',
  'passkey-refused': 'That passkey isn’t known here. Sign in with your password.',
  'provider-linked': 'Connected. You can sign in with it from now on.',
  'provider-unlinked': 'Disconnected.',
  'password-link-sent': 'We’ve sent a link to your address. Open it to choose a password.',
  'email-change-sent':
    'If the address can be used, we’ve sent an email to it. Your address changes when you open the link.',
  'email-changed': 'Your email address is changed. Sign in with the new one from now on.',
  'two-factor-off': 'Two-factor authentication is off.',
  'sign-in-expired': 'You took too long. Sign in again.',
  'account-deleted': 'Your account is deleted.',
  password: 'Password changed. All other devices are signed out.',
  confirmed: 'Email confirmed.',
  'confirmation-sent': 'If the address can be confirmed, we’ve sent another email. Check your spam folder too.',
  'key-saved': 'Changes saved.',
  'key-revoked': 'Key revoked.',
  'render-canceled': 'Render canceled. It costs nothing.',
  'render-ended': 'The render ended before it could be canceled.',
  'render-deleted': 'Render deleted.',
  'webhook-created': 'Endpoint added. Copy its signing secret to your server, then send a test event.',
  'webhook-test': 'Test event sent. Reload this page to see the response.',
  'webhook-enabled': 'Endpoint enabled.',
  'webhook-disabled': 'Endpoint disabled.',
  'webhook-rotated': 'Secret rotated. Copy the new one to your server.',
  'webhook-deleted': 'Endpoint deleted.',
  'webhook-resent': 'Sent again. Reload this page to see the response.',
  suspended: 'Account suspended. Its keys stopped working immediately.',
  'account-resumed': 'Account resumed.',
  'account-approved': 'Account approved. Its users can create live keys now.',
  'credits-granted': 'Credits added.',
  'account-plan': 'Plan changed.',
  'account-created': 'Account created. Invite its first user below.',
};

export function noteFor(query: unknown): string | undefined {
  const { done } = query as { done?: unknown };
  return typeof done === 'string' && Object.hasOwn(NOTES, done) ? NOTES[done] : undefined;
}
