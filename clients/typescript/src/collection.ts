// What fonts, logos, styles and webhook endpoints have in common: the account has a list of them.

import type { HttpRequest, RequestOptions } from './transport.ts';

/** Sends a request and returns the JSON of the response. */
export type Send = <Result>(
  method: HttpRequest['method'],
  path: string,
  options: RequestOptions,
  json?: unknown,
  http?: Partial<HttpRequest>,
) => Promise<Result>;

export class Collection<Entry> {
  protected readonly send: Send;
  protected readonly path: string;
  readonly #listName: string;

  /** `listName` is the field of the response that has the list. */
  constructor(send: Send, path: string, listName: string) {
    this.send = send;
    this.path = path;
    this.#listName = listName;
  }

  /** Lists styles by name, each in its latest version, and everything else oldest first. */
  async list(options: RequestOptions = {}): Promise<readonly Entry[]> {
    const lists = await this.send<Readonly<Record<string, readonly Entry[]>>>('GET', this.path, options);
    return lists[this.#listName] as readonly Entry[];
  }

  /** A style has a name in place of an id, or a name with a version such as `acme@3`. */
  async get(id: string, options: RequestOptions = {}): Promise<Entry> {
    return await this.send('GET', this.pathOf(id), options);
  }

  /** Renders that were accepted keep a deleted font, logo or style. Webhooks to a deleted endpoint are dropped. */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    await this.send('DELETE', this.pathOf(id), options);
  }

  protected pathOf(id: string): string {
    return `${this.path}/${encodeURIComponent(id)}`;
  }
}
