// E-mail addresses as names of people. Only what every mail server agrees on: capitals make no difference here.

const MAX_LENGTH = 254;
const SHAPE =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/u;

/** The address as it is kept; undefined when it cannot be one. */
export function parseEmail(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  return address.length <= MAX_LENGTH && SHAPE.test(address) ? address : undefined;
}
