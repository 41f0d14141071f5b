// Styles that the account saved under a name.

import type { components } from './schema.generated.ts';
import type { RequestOptions } from './transport.ts';
import type { Send } from './webhook-endpoints.ts';

type Schemas = components['schemas'];

/** The look of captions. */
export type Style = Readonly<Schemas['Style']>;
export type SavedStyle = Readonly<Schemas['SavedStyle']>;
/** A style, with defaults for fields of requests such as `position`. */
export type StyleToSave = Readonly<Schemas['SavedStyleRequest']>;

const PATH = '/v1/styles';

/** Manages saved styles. Saving and deleting need a live key without allowed origins. */
export class Styles {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists styles by name, each in its latest version. */
  async list(options: RequestOptions = {}): Promise<readonly SavedStyle[]> {
    return (await this.#send<{ styles: SavedStyle[] }>('GET', PATH, options)).styles;
  }

  /** `name` is a name, or a name with a version such as `acme@3`. */
  async get(name: string, options: RequestOptions = {}): Promise<SavedStyle> {
    return await this.#send('GET', pathOf(name), options);
  }

  /** A style that equals the saved one makes no new version. */
  async save(name: string, style: StyleToSave, options: RequestOptions = {}): Promise<SavedStyle> {
    return await this.#send('PUT', pathOf(name), options, style);
  }

  /** Deletes a style with all versions. Renders that were accepted keep it. */
  async delete(name: string, options: RequestOptions = {}): Promise<void> {
    await this.#send('DELETE', pathOf(name), options);
  }
}

function pathOf(name: string): string {
  return `${PATH}/${encodeURIComponent(name)}`;
}
