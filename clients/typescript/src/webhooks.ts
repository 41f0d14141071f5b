// Verifies webhooks, which are signed as https://www.standardwebhooks.com describes: HMAC-SHA256 over id, time and body.

import { StorybarWebhookError } from './errors.ts';
import type { WebhookEvent } from './renders.ts';

export interface VerifyOptions {
  /** The body exactly as received. Parsing and printing it again would change it. */
  readonly body: string | Uint8Array;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The secret of the endpoint, such as `whsec_...`, or several while you rotate it. A variable that isn't set is an error. */
  readonly secret: string | readonly string[] | undefined;
  /** How old or how far in the future the webhook may be. Default: 300. */
  readonly toleranceSeconds?: number;
}

/** Returns the event if its signature is valid and recent, and throws a `StorybarWebhookError` otherwise. */
export async function verifyWebhook(options: VerifyOptions): Promise<WebhookEvent> {
  const { body, headers, secret, toleranceSeconds = 300 } = options;
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature').split(' ');
  checkAge(timestamp, toleranceSeconds);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const secrets = typeof secret === 'string' ? [secret] : (secret ?? []);
  if (secrets.length === 0) throw new StorybarWebhookError('`secret` is required.');
  const keys = await Promise.all(secrets.map(importSecret));
  for (const key of keys) {
    for (const signature of signatures) if (await isValid(key, signature, signed)) return parseEvent(bytes);
  }
  throw new StorybarWebhookError(
    "The webhook's signature doesn't match. Check the secret, and pass the body unchanged.",
  );
}

function header(headers: VerifyOptions['headers'], name: string): string {
  // Some platforms, such as AWS API Gateway, keep the case that the sender used.
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([own]) => own.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new StorybarWebhookError(`The webhook has no \`${name}\` header.`);
}

function checkAge(timestamp: string, toleranceSeconds: number): void {
  const age = /^\d+$/u.test(timestamp) ? Date.now() / 1_000 - Number(timestamp) : Number.NaN;
  if (Math.abs(age) <= toleranceSeconds) return;
  throw new StorybarWebhookError(
    Number.isNaN(age)
      ? `\`webhook-timestamp\` must be seconds since 1970; got "${timestamp}".`
      : `The webhook was sent ${Math.round(age)} seconds ago; at most ${toleranceSeconds} are accepted.`,
  );
}

async function importSecret(secret: string): Promise<CryptoKey> {
  const key = decodeBase64(secret.replace(/^whsec_/u, ''));
  if (key === undefined || key.length === 0) throw new StorybarWebhookError("The webhook secret isn't valid base64.");
  return await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** `verify` compares in constant time. */
async function isValid(key: CryptoKey, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [version, encoded = ''] = signature.split(',');
  const bytes = version === 'v1' ? decodeBase64(encoded) : undefined;
  return bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, signed));
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function parseEvent(bytes: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  } catch (error) {
    throw new StorybarWebhookError("The webhook's body isn't valid JSON.", { cause: error });
  }
}
