// Secrets that sign webhooks, in the format of https://www.standardwebhooks.com.

import { createHmac, randomBytes } from 'node:crypto';
import { must } from '../../shared/must.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export function createWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

export interface SignedMessage {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** Returns one signature per secret, so that receivers accept the message while they switch to a new secret. */
export function signWebhook({ id, timestamp, body }: SignedMessage, secrets: readonly string[]): string {
  must(secrets[0], 'a secret to sign the webhook');
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return signatures.join(' ');
}
