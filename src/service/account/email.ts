// Email addresses that identify users. Case is ignored, and only forms that every mail server accepts are allowed.

const MAX_LENGTH = 254;
const ASCII = /^[\u0020-\u007e]*$/u;
const SHAPE =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/u;

const GMAIL = new Set(['gmail.com', 'googlemail.com']);

/** Returns the address in the form it is stored in, or undefined when it isn't valid. */
export function parseEmail(text: string): string | undefined {
  // Some letters, such as the Kelvin sign, become ASCII in lower case.
  if (!ASCII.test(text.trim())) return undefined;
  const address = text.trim().toLowerCase();
  return address.length <= MAX_LENGTH && SHAPE.test(address) ? address : undefined;
}

/**
 * Returns the mailbox that receives email for the address, without a tag such as `+shop`, which the owner of a mailbox
 * can choose freely. Gmail ignores dots as well, and has two domains.
 */
export function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.split('@');
  const untagged = local.replace(/(?<=.)\+.*$/u, '');
  return GMAIL.has(domain) ? `${untagged.replaceAll('.', '')}@gmail.com` : `${untagged}@${domain}`;
}
