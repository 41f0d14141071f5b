// Fonts that the account uploaded.

import { encodeUpload } from '#platform';
import { type Asset, openable } from './asset.ts';
import { Collection, type Send } from './collection.ts';
import type { components } from './schema.generated.ts';
import type { RequestOptions } from './transport.ts';

export type Font = Readonly<components['schemas']['Font']>;

export interface FontUploadOptions extends RequestOptions {
  /** Confirms that the license of the font allows you to use it here. */
  readonly licenseConfirmed: true;
}

/** Manages uploaded fonts. Uploading and deleting need a live key without allowed origins. */
export class Fonts extends Collection<Font> {
  constructor(send: Send) {
    super(send, '/v1/fonts', 'fonts');
  }

  /** Uploads a TTF, OTF or WOFF2. It isn't retried after it was sent, because a second copy would be another font. */
  async add(font: Asset, { licenseConfirmed, ...options }: FontUploadOptions): Promise<Font> {
    const file = await openable(font);
    const fields = [['license_confirmed', String(licenseConfirmed)]] as const;
    const encode = async () => await encodeUpload(fields, file, undefined);
    return await this.send('POST', this.path, options, undefined, { encode, isRepeatable: false });
  }
}
