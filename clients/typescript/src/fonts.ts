// Fonts that the account uploaded.

import { encodeUpload } from '#platform';
import { type Asset, openable } from './asset.ts';
import type { components } from './schema.generated.ts';
import type { RequestOptions } from './transport.ts';
import type { Send } from './webhook-endpoints.ts';

export type Font = Readonly<components['schemas']['Font']>;

export interface FontUploadOptions extends RequestOptions {
  /** Confirms that the license of the font allows you to use it here. */
  readonly licenseConfirmed: true;
}

const PATH = '/v1/fonts';

/** Manages uploaded fonts. Uploading and deleting need a live key without allowed origins. */
export class Fonts {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists fonts, oldest first. */
  async list(options: RequestOptions = {}): Promise<readonly Font[]> {
    return (await this.#send<{ fonts: Font[] }>('GET', PATH, options)).fonts;
  }

  async get(id: string, options: RequestOptions = {}): Promise<Font> {
    return await this.#send('GET', pathOf(id), options);
  }

  /** Uploads a TTF, OTF or WOFF2. It isn't retried after it was sent, because a second copy would be another font. */
  async add(font: Asset, { licenseConfirmed, ...options }: FontUploadOptions): Promise<Font> {
    const file = await openable(font);
    const fields = [['license_confirmed', String(licenseConfirmed)]] as const;
    const encode = async () => await encodeUpload(fields, file, undefined);
    return await this.#send('POST', PATH, options, undefined, { encode, isRepeatable: false });
  }

  /** Later requests with its id fail. Renders that were accepted keep it. */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#send('DELETE', pathOf(id), options);
  }
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
