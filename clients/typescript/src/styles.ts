// Styles that the account saved under a name.

import { Collection, type Send } from './collection.ts';
import type { components } from './schema.generated.ts';
import type { RequestOptions } from './transport.ts';

type Schemas = components['schemas'];

/** The look of captions. */
export type Style = Readonly<Schemas['Style']>;
export type SavedStyle = Readonly<Schemas['SavedStyle']>;
/** A style, with defaults for fields of requests such as `position`. */
export type StyleToSave = Readonly<Schemas['SavedStyleRequest']>;

/** Manages saved styles. Saving and deleting need a live key without allowed origins. */
export class Styles extends Collection<SavedStyle> {
  constructor(send: Send) {
    super(send, '/v1/styles', 'styles');
  }

  /** A style that equals the saved one makes no new version. */
  async save(name: string, style: StyleToSave, options: RequestOptions = {}): Promise<SavedStyle> {
    return await this.send('PUT', this.pathOf(name), options, style);
  }
}
