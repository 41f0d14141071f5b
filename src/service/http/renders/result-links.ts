// The URL at which clients reach this server, for links that outlive the request.

import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../shared/errors.ts';
import type { Marketplace } from '../access/marketplace.ts';
import { requestBaseUrl } from '../transport/request-base-url.ts';

export interface ResultLinkOptions {
  readonly isAsync: boolean;
  /** True if several servers may use the database, but each has a storage of its own. */
  readonly lacksSharedStorage: boolean;
  /** Empty if it isn't set. */
  readonly publicUrl: string;
  /** The address that the server listens on. */
  readonly host: string;
  readonly marketplace: Pick<Marketplace, 'isClaimed'>;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/u;

export class ResultLinks {
  readonly #options: ResultLinkOptions;

  constructor(options: ResultLinkOptions) {
    this.#options = options;
  }

  /** Throws `async_disabled` when this server can't keep results or has no address for links to them. */
  assertAvailable(request: FastifyRequest): void {
    this.#assertStorage();
    if (this.#find(request) === undefined) {
      const detail =
        'This server has no public address for links to results. Its operator must set STORYBAR_PUBLIC_URL.';
      throw new AppError('async_disabled', detail);
    }
  }

  /** Returns false when a request can't be asynchronous, here or as this caller sends it. */
  isAsyncAvailable(request: FastifyRequest): boolean {
    try {
      this.assertAsyncAvailable(request);
      return true;
    } catch {
      return false;
    }
  }

  /** Throws when this server can't keep a file until it is sent to a `put_url`, or can't bill this caller for it. */
  assertPutAvailable(request: FastifyRequest): void {
    this.#assertStorage();
    this.#assertNoMarketplace(request);
  }

  #assertStorage(): void {
    if (!this.#options.isAsync) {
      throw new AppError('async_disabled', 'This server keeps no results, so it can only send them in the response.');
    }
    if (this.#options.lacksSharedStorage) {
      const detail =
        'This server shares its database with others, but not its storage. Its operator must set STORYBAR_STORAGE.';
      throw new AppError('async_disabled', detail);
    }
  }

  /** Throws when a request can't be asynchronous, here or as this caller sends it. */
  assertAsyncAvailable(request: FastifyRequest): void {
    this.assertAvailable(request);
    this.#assertNoMarketplace(request);
  }

  #assertNoMarketplace(request: FastifyRequest): void {
    if (!this.#options.marketplace.isClaimed(request.headers)) return;
    const detail = 'Requests through the marketplace are billed by their response, so they must wait for the render.';
    throw new AppError('async_not_allowed', detail);
  }

  /** Returns the URL for renders that exist, which may be older than a change of the settings. */
  baseUrlFor(request: FastifyRequest): string {
    return this.#find(request) ?? '';
  }

  /** The host of the request is a good address only where no other machine can reach the server. */
  #find(request: FastifyRequest): string | undefined {
    const { publicUrl, host } = this.#options;
    if (publicUrl !== '') return publicUrl;
    return LOOPBACK.test(host) ? requestBaseUrl(request) : undefined;
  }
}
