// From the text of a variable to its value, or to a sentence that says what would be right.

import { isIP } from 'node:net';

type Outcome<Value> = { readonly value: Value } | { readonly fault: string };

export type Parse<Value> = (text: string) => Outcome<Value>;

export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function proxies(text: string): Outcome<false | number | string[]> {
  if (text.trim() === '') return { value: false };
  if (/^[1-9]\d?$/u.test(text)) return { value: Number(text) };
  const isNetwork = (item: string): boolean => {
    const [address = '', bits] = item.split('/');
    const most = isIP(address) === 4 ? 32 : 128;
    return isIP(address) !== 0 && (bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= most));
  };
  if (list(text).every(isNetwork)) return { value: list(text) };
  return { fault: 'must be addresses, networks like 10.0.0.0/8, or a number' };
}

export function databaseUrl(text: string): Outcome<string> {
  if (text === '' || (/^postgres(?:ql)?:\/\//u.test(text) && URL.canParse(text))) return { value: text };
  return { fault: 'must begin with postgres://' };
}

export function webhookSecrets(text: string): Outcome<readonly string[]> {
  const value = list(text);
  if (value.every((secret) => /^whsec_\S+$/u.test(secret))) return { value };
  return { fault: 'must be secrets that begin with whsec_, separated by commas' };
}

/** The secret key goes there with every call: in the clear only within this machine. */
export function stripeApiUrl(text: string): Outcome<string> {
  if (text === '') return { value: text };
  const fault = 'must be https://host or https://host:port without a path (http:// for this machine only)';
  if (!URL.canParse(text)) return { fault };
  const { protocol, hostname, pathname, search, username } = new URL(text);
  const near = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const safe = protocol === 'https:' || (protocol === 'http:' && near);
  return safe && pathname === '/' && search === '' && username === '' ? { value: text } : { fault };
}

export function wholeNumber(least: number, most: number): Parse<number> {
  return (text) => {
    const value = /^\d+$/u.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return { value };
    return { fault: `must be a whole number from ${least} to ${most}` };
  };
}

/** In bytes. */
export function megabytes(least: number): Parse<number> {
  const parse = wholeNumber(least, 1_000_000);
  return (text) => {
    const parsed = parse(text);
    return 'value' in parsed ? { value: parsed.value * 1024 ** 2 } : parsed;
  };
}

export function oneOf<Name extends string>(names: readonly Name[]): Parse<Name> {
  return (text) => {
    const value = names.find((name) => name === text);
    return value === undefined ? { fault: `must be one of ${names.join(', ')}` } : { value };
  };
}

export function urlOrEmpty(text: string): Outcome<string> {
  return text === '' || URL.canParse(text) ? { value: text.replace(/\/+$/u, '') } : { fault: 'must be a URL' };
}

export function natsUrls(text: string): Outcome<string> {
  const isGood =
    text === '' ||
    text.split(',').every((url) => /^(?:nats|tls):\/\/[^/]+$/u.test(url) && URL.canParse(url) && isDecodable(url));
  return isGood ? { value: text } : { fault: 'must be nats:// or tls:// URLs separated by commas' };
}

/** A password with a bare percent sign in it cannot be told from one that is encoded. */
function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

export function anyText(text: string): { value: string } {
  return { value: text };
}

export function nonEmpty(text: string): Outcome<string> {
  return text.trim() === '' ? { fault: 'must not be empty' } : { value: text.trim() };
}
