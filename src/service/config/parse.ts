// Parsers of environment variables. Each returns the value, or a fault that says what the value must be.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';

type ParseResult<Value> = { readonly value: Value } | { readonly fault: string };

export type Parse<Value> = (text: string) => ParseResult<Value>;

export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function proxies(text: string): ParseResult<false | number | string[]> {
  if (text.trim() === '') return { value: false };
  if (/^[1-9]\d?$/u.test(text)) return { value: Number(text) };
  if (list(text).every(isNetwork)) return { value: list(text) };
  return { fault: 'must be IP addresses, networks such as 10.0.0.0/8, or a number from 1 to 99' };
}

function isNetwork(item: string): boolean {
  const [address = '', bits] = item.split('/');
  const maxBits = isIP(address) === 4 ? 32 : 128;
  return isIP(address) !== 0 && (bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= maxBits));
}

export function hostsOrNetworks(text: string): ParseResult<readonly string[]> {
  const isHost = (item: string): boolean => /^[a-z\d_](?:[\w.-]*[\w.])?$/iu.test(item) && /[a-z]/iu.test(item);
  const value = list(text);
  if (value.every((item) => isNetwork(item) || isHost(item))) return { value };
  return { fault: 'must be comma-separated host names, IP addresses or networks such as 10.1.0.0/16' };
}

export function databaseUrl(text: string): ParseResult<string> {
  if (text === '' || (/^postgres(?:ql)?:\/\//u.test(text) && URL.canParse(text))) return { value: text };
  return { fault: 'must begin with postgres://' };
}

export type StorageLocation =
  /** The default is in the data directory. */
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly directory: string }
  /** The prefix is empty or ends with a slash. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string };

export function storageLocation(text: string): ParseResult<StorageLocation> {
  if (text === '') return { value: { kind: 'default' } };
  const directory = /^file:(?:\/\/(?=\/))?(?<directory>.+)$/u.exec(text)?.groups?.['directory'];
  if (directory !== undefined) return { value: { kind: 'file', directory: path.resolve(directory) } };
  const s3 = /^s3:\/\/(?<bucket>[a-z\d][a-z\d.-]{1,61}[a-z\d])(?:\/(?<prefix>[\w.-]+(?:\/[\w.-]+)*))?\/?$/u.exec(text);
  const { bucket, prefix } = s3?.groups ?? {};
  if (bucket === undefined || prefix?.split('/').some((part) => /^\.+$/u.test(part))) {
    return { fault: 'must be file: and a directory, or s3://bucket or s3://bucket/prefix' };
  }
  return { value: { kind: 's3', bucket, prefix: prefix === undefined ? '' : `${prefix}/` } };
}

/** Parses the base URL of a service. An empty text means the default. */
export function serviceUrl(text: string): ParseResult<string> {
  if (text === '') return { value: text };
  const fault = 'must be http(s)://host, optionally with a port and a path, without credentials or a query';
  if (!/^https?:\/\//u.test(text) || !URL.canParse(text)) return { fault };
  const { username, password, search, hash } = new URL(text);
  return username + password + search + hash === '' ? { value: text } : { fault };
}

/** Parses the full address of a request, which may have a query. An empty text means none. */
export function requestUrl(text: string): ParseResult<string> {
  if (text === '') return { value: text };
  const fault = 'must be http(s)://host, optionally with a port, a path and a query, without credentials';
  if (!/^https?:\/\//u.test(text) || !URL.canParse(text)) return { fault };
  const { username, password, hash } = new URL(text);
  return username + password + hash === '' ? { value: text } : { fault };
}

export function webhookSecrets(text: string): ParseResult<readonly string[]> {
  const value = list(text);
  if (value.every((secret) => /^whsec_\S+$/u.test(secret))) return { value };
  return { fault: 'must be comma-separated secrets that begin with whsec_' };
}

/** Every request to this URL carries the secret key, so plain HTTP is allowed only within this machine. */
export function stripeApiUrl(text: string): ParseResult<string> {
  if (text === '') return { value: text };
  const fault = 'must be https://host or https://host:port without a path (http:// is allowed for localhost only)';
  if (!URL.canParse(text)) return { fault };
  const { protocol, hostname, pathname, search, username } = new URL(text);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLocal);
  return isSafe && pathname === '/' && search === '' && username === '' ? { value: text } : { fault };
}

export function wholeNumber(min: number, max: number): Parse<number> {
  return (text) => {
    const value = /^\d+$/u.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return { value };
    return { fault: `must be a whole number from ${min} to ${max}` };
  };
}

/** Parses megabytes and returns bytes. */
export function megabytes(min: number): Parse<number> {
  const parse = wholeNumber(min, 1_000_000);
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

export function urlOrEmpty(text: string): ParseResult<string> {
  return text === '' || URL.canParse(text) ? { value: text.replace(/\/+$/u, '') } : { fault: 'must be a URL' };
}

export function natsUrls(text: string): ParseResult<string> {
  const isValid =
    text === '' ||
    text.split(',').every((url) => /^(?:nats|tls):\/\/[^/]+$/u.test(url) && URL.canParse(url) && isDecodable(url));
  return isValid ? { value: text } : { fault: 'must be comma-separated nats:// or tls:// URLs' };
}

/** Returns false for a password with a bare percent sign, which cannot be percent-decoded. */
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

export function nonEmpty(text: string): ParseResult<string> {
  return text.trim() === '' ? { fault: 'must not be empty' } : { value: text.trim() };
}

/** Parses an email address or a URL. */
export function contact(text: string): ParseResult<string> {
  if (text === '' || /^[^\s@]+@[^\s@]+$/u.test(text) || (text.startsWith('https://') && URL.canParse(text))) {
    return { value: text };
  }
  return { fault: 'must be an email address or a URL that begins with https://' };
}

const KEY_BYTES = 32;

/** The keys in a file, one per line. Empty lines and lines that begin with `#` are ignored. */
export function keyFile(file: string): ParseResult<readonly Buffer[]> {
  if (file === '') return { value: [] };
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return { fault: `must name a readable file (${reason})` };
  }
  const lines = content.split('\n').map((line) => line.trim());
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#')).map(keyIn);
  if (keys.length === 0 || keys.some((key) => key.length !== KEY_BYTES)) {
    return { fault: `must name a file with keys of ${KEY_BYTES} bytes in Base64 or hexadecimal, one per line` };
  }
  return { value: keys };
}

function keyIn(line: string): Buffer {
  if (/^[0-9a-f]{64}$/iu.test(line)) return Buffer.from(line, 'hex');
  return /^[\w+/-]{43}=?$/u.test(line) ? Buffer.from(line, 'base64') : Buffer.alloc(0);
}
