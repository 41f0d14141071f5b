// Stripe's own library, set up for us, and its errors as ours.

import { Stripe } from 'stripe';
import { AppError } from '../errors.ts';

export interface StripeAccess {
  readonly secretKey: string;
  /** Another place than Stripe's own, for tests and proxies; empty: Stripe's own. */
  readonly apiUrl: string;
}

/** Stripe gives up on an unanswered event after some ten seconds. */
const TIMEOUT_MS = 10_000;
const RETRIES = 2;

export function createStripeClient({ secretKey, apiUrl }: StripeAccess): Stripe {
  const common = { timeout: TIMEOUT_MS, maxNetworkRetries: RETRIES, telemetry: false };
  if (apiUrl === '') return new Stripe(secretKey, common);
  const { protocol, hostname, port } = new URL(apiUrl);
  const secure = protocol === 'https:';
  return new Stripe(secretKey, {
    ...common,
    protocol: secure ? 'https' : 'http',
    host: hostname.replaceAll(/[[\]]/gu, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
  });
}

/** True when Stripe has no such object: with this key, at least. */
export function isMissing(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';
}

/** Anything of Stripe's becomes an error of ours; what is ours already stays. */
export async function translated<Value>(call: () => Promise<Value>): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    throw translate(error);
  }
}

function translate(error: unknown): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error;
  const cause = new Error(describe(error));
  if (error instanceof Stripe.errors.StripeCardError) return new AppError('payment_failed', error.message, { cause });
  const passing =
    error instanceof Stripe.errors.StripeConnectionError ||
    error instanceof Stripe.errors.StripeRateLimitError ||
    (error.statusCode ?? 0) >= 500;
  return passing
    ? new AppError('payment_unavailable', 'The payment provider does not answer. Try again in a minute.', {
        cause,
        retryAfterSeconds: 60,
      })
    : new AppError('internal_error', 'Something went wrong on our side.', { cause });
}

/** For the log. The error itself holds headers and bodies, so it goes no further. */
export function describe(error: unknown): string {
  if (!(error instanceof Stripe.errors.StripeError)) {
    return withoutSecrets(error instanceof Error ? `${error.message}${causeOf(error)}` : String(error));
  }
  const facts = [error.type, error.code, error.param, error.statusCode, error.requestId];
  return withoutSecrets(`${facts.filter((fact) => fact !== undefined).join(' ')}: ${error.message}`);
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? ` (${cause.message})` : '';
}

function withoutSecrets(text: string): string {
  return text.replaceAll(/\b(?<kind>sk|rk|whsec)_[\w*]+/gu, '$<kind>_...');
}
