// The client for Stripe's API, and its errors translated into those of this service.

import { Stripe } from 'stripe';
import { AppError } from '../../shared/errors.ts';

export interface StripeAccess {
  readonly secretKey: string;
  /** Another base URL, for tests and proxies. Empty for Stripe's own. */
  readonly apiUrl: string;
}

/** Stripe itself waits about ten seconds for the response to an event. */
const TIMEOUT_MS = 10_000;
const MAX_RETRIES = 2;

export function createStripeClient({ secretKey, apiUrl }: StripeAccess): Stripe {
  const common = { timeout: TIMEOUT_MS, maxNetworkRetries: MAX_RETRIES, telemetry: false };
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

/** Returns true when Stripe has no such object, or not in the account that the secret key belongs to. */
export function isMissing(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';
}

/** Translates Stripe's errors. Other errors pass unchanged. */
export async function translateErrors<Value>(call: () => Promise<Value>): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    throw translate(error);
  }
}

function translate(error: unknown): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error;
  const cause = new Error(describeError(error));
  if (error instanceof Stripe.errors.StripeCardError) return new AppError('payment_failed', error.message, { cause });
  const isTemporary =
    error instanceof Stripe.errors.StripeConnectionError ||
    error instanceof Stripe.errors.StripeRateLimitError ||
    (error.statusCode !== undefined && error.statusCode >= 500);
  return isTemporary
    ? new AppError('payment_unavailable', 'The payment provider is not responding. Try again in a minute.', {
        cause,
        retryAfterSeconds: 60,
      })
    : new AppError('internal_error', 'Something went wrong on our side.', { cause });
}

/** Describes an error for the log. The error itself contains headers and bodies, so it isn't logged. */
export function describeError(error: unknown): string {
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
