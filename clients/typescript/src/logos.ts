// Logos that the account uploaded.

import { encodeUpload } from '#platform';
import { type Asset, openable } from './asset.ts';
import type { components } from './schema.generated.ts';
import type { RequestOptions } from './transport.ts';
import type { Send } from './webhook-endpoints.ts';

export type Logo = Readonly<components['schemas']['Logo']>;

const PATH = '/v1/logos';

/** Manages logos. Uploading and deleting need a live key without allowed origins. */
export class Logos {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Uploads a PNG, WebP or JPEG. Use its `id` in the `logo` of a style. A second attempt would add it twice, so it isn't repeated. */
  async add(image: Asset, options: RequestOptions = {}): Promise<Logo> {
    const file = await openable(image);
    const encode = async () => await encodeUpload([], file, undefined);
    return await this.#send('POST', PATH, options, undefined, { encode, isRepeatable: false });
  }

  /** Lists logos, oldest first. */
  async list(options: RequestOptions = {}): Promise<readonly Logo[]> {
    return (await this.#send<{ logos: Logo[] }>('GET', PATH, options)).logos;
  }

  async get(id: string, options: RequestOptions = {}): Promise<Logo> {
    return await this.#send('GET', pathOf(id), options);
  }

  /** Renders that were accepted keep the logo. */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#send('DELETE', pathOf(id), options);
  }
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
