// Callers that come through an API marketplace. Its gateway authenticates itself with a shared secret and names the caller.
// All its headers start with `x-<marketplace>-`.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../../shared/errors.ts';
import { keyOf } from './key-header.ts';

export interface MarketplaceCaller {
  /** The id has the form `<marketplace>:<user>`. */
  readonly accountId: string;
  /** The marketplace's name for the plan. */
  readonly subscription: string;
}

/** Keeps spaces and control characters out of account ids. */
const VALID_USER = /^[\x21-\x7e]{1,128}$/u;

export class Marketplace {
  readonly name: string;
  readonly #secrets: readonly Buffer[];

  /** Several secrets are valid at the same time, so that they can be rotated without an interruption. */
  constructor(name: string, secrets: readonly string[]) {
    this.name = name;
    this.#secrets = secrets.map(digest);
  }

  get billingHeader(): string {
    return `x-${this.name}-billing`;
  }

  /** Returns true for a request that claims to come from the gateway. The secret isn't checked. */
  isClaimed(headers: IncomingHttpHeaders): boolean {
    return this.#header(headers, 'proxy-secret') !== undefined;
  }

  /** Returns undefined for a direct caller. Throws for a wrong secret, even next to a valid API key. */
  identify(headers: IncomingHttpHeaders): MarketplaceCaller | undefined {
    const secret = this.#header(headers, 'proxy-secret');
    if (secret === undefined) {
      if (this.#header(headers, 'key') === undefined || keyOf(headers) !== undefined) return undefined;
      throw refused(
        "A marketplace key works only through the marketplace. Send the request to the marketplace's host.",
      );
    }
    if (!this.#isKnown(secret)) throw refused('The marketplace secret is not valid.');
    const user = this.#header(headers, 'user') ?? '';
    if (!VALID_USER.test(user)) throw refused(`The x-${this.name}-user header is missing or invalid.`);
    return { accountId: `${this.name}:${user}`, subscription: this.#header(headers, 'subscription') ?? '' };
  }

  /** Compares all secrets in constant time, so the response time reveals nothing about them. */
  #isKnown(secret: string): boolean {
    const given = digest(secret);
    return this.#secrets.map((known) => timingSafeEqual(known, given)).includes(true);
  }

  #header(headers: IncomingHttpHeaders, name: string): string | undefined {
    const value = headers[`x-${this.name}-${name}`];
    return Array.isArray(value) ? value.join(', ') : value;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function refused(detail: string): AppError {
  return new AppError('marketplace_refused', detail);
}
