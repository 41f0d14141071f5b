// Logos that the account uploaded.

import { encodeUpload } from '#platform';
import { type Asset, openable } from './asset.ts';
import { Collection, type Send } from './collection.ts';
import type { components } from './schema.generated.ts';
import type { RequestOptions } from './transport.ts';

export type Logo = Readonly<components['schemas']['Logo']>;

/** Manages logos. Uploading and deleting need a live key without allowed origins. */
export class Logos extends Collection<Logo> {
  constructor(send: Send) {
    super(send, '/v1/logos', 'logos');
  }

  /** Uploads a PNG, WebP or JPEG. Use its `id` in the `logo` of a style. A second attempt would add it twice, so it isn't repeated. */
  async add(image: Asset, options: RequestOptions = {}): Promise<Logo> {
    const file = await openable(image);
    const encode = async () => await encodeUpload([], file, undefined);
    return await this.send('POST', this.path, options, undefined, { encode, isRepeatable: false });
  }
}
