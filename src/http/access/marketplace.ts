// Callers who come through an API marketplace. Its gateway vouches for them with a secret that only it and we know; the
// names of its headers all begin with the marketplace's own.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../errors.ts';

export interface MarketplaceCaller {
  /** `<marketplace>:<user>`. */
  readonly accountId: string;
  /** The plan, in the marketplace's words. */
  readonly subscription: string;
}

/** As long as a name of the marketplace may be; also keeps control characters out of our ids. */
const USER = /^[\x21-\x7e]{1,128}$/u;

export class Marketplace {
  readonly name: string;
  readonly #secrets: readonly Buffer[];

  /** Several secrets are valid at once, so that they can be changed without a pause. */
  constructor(name: string, secrets: readonly string[]) {
    this.name = name;
    this.#secrets = secrets.map(digest);
  }

  get billingHeader(): string {
    return `x-${this.name}-billing`;
  }

  /** True for a request that claims to come from the gateway, rightly or not. */
  isClaimed(headers: IncomingHttpHeaders): boolean {
    return this.#header(headers, 'proxy-secret') !== undefined;
  }

  /** Undefined for a direct caller. Throws for one who only pretends, whatever other key there is. */
  identify(headers: IncomingHttpHeaders): MarketplaceCaller | undefined {
    const secret = this.#header(headers, 'proxy-secret');
    if (secret === undefined) {
      if (this.#header(headers, 'key') === undefined || headers['x-api-key'] !== undefined) return undefined;
      throw refused('A marketplace key works at the marketplace only: send the request to its host.');
    }
    if (!this.#isKnown(secret)) throw refused('The marketplace secret is not valid.');
    const user = this.#header(headers, 'user') ?? '';
    if (!USER.test(user)) throw refused(`The marketplace did not say who is calling, in x-${this.name}-user.`);
    return { accountId: `${this.name}:${user}`, subscription: this.#header(headers, 'subscription') ?? '' };
  }

  /** Every secret is compared, so that the time tells nothing. */
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
