// Fonts of an account: how the API shows them, and their use in requests.

import type { ResponseOf } from '../api/response-schemas.ts';
import { ownFontsIn } from '../caption/named-styles.ts';
import type { Form } from '../caption/field-reader.ts';
import { isOwnFont } from '../caption/fonts.ts';
import { unknownFont } from '../caption/text-rules.ts';
import { AppError, type FieldFault } from '../errors.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import { type BrandFile, objectOf } from '../store/brand/brand-files.ts';
import type { SavedFiles } from './saved-files.ts';

export const FONTS_PATH = '/v1/fonts';

type StyledForm = Pick<Form, 'fields' | 'isJson' | 'faults'>;
type StoredFacts = Pick<ResponseOf<'Font'>, 'family' | 'style' | 'weights' | 'characters' | 'scripts'>;

/** Checks the fonts that requests and styles name when they arrive, and finds them for renders. */
export class SavedFonts {
  readonly #files: Pick<SavedFiles, 'list' | 'findForRender'>;
  readonly #storage: Pick<ObjectStorage, 'copyTo'>;

  constructor(files: Pick<SavedFiles, 'list' | 'findForRender'>, storage: Pick<ObjectStorage, 'copyTo'>) {
    this.#files = files;
    this.#storage = storage;
  }

  /** For a render that was accepted, which keeps a font that was deleted since. */
  async find(accountId: string, id: string): Promise<BrandFile | undefined> {
    return await this.#files.findForRender(accountId, 'font', id);
  }

  /** Writes a copy to a new local file. */
  async copyTo({ id }: Pick<BrandFile, 'id'>, path: string, signal: AbortSignal): Promise<void> {
    if (await this.#storage.copyTo(objectOf({ id }), path, signal)) return;
    const detail = `The font ${id} could not be read. Try again later, or upload it again.`;
    throw new AppError('storage_unavailable', detail, { retryAfterSeconds: 2 });
  }

  /** Looks up the fonts of all forms together. One that the account doesn't have becomes a fault of its form. */
  async checkAll<Some extends StyledForm>(accountId: string, forms: readonly Some[]): Promise<readonly Some[]> {
    const used = forms.map(ownFontsIn);
    if (used.every(({ length }) => length === 0)) return forms;
    const known = await this.#ids(accountId);
    return forms.map((form, index) => {
      const missing = (used[index] ?? []).filter(({ id }) => !known.has(id));
      const faults = missing.map(({ id, pointer }) => ({ pointer, ...unknownFont(id) }));
      return faults.length === 0 ? form : { ...form, faults: [...form.faults, ...faults] };
    });
  }

  /** The faults of a style that is saved. */
  async faultsOf(accountId: string, font: unknown, pointer: string): Promise<FieldFault[]> {
    if (typeof font !== 'string' || !isOwnFont(font)) return [];
    return (await this.#ids(accountId)).has(font) ? [] : [{ pointer, ...unknownFont(font) }];
  }

  async #ids(accountId: string): Promise<ReadonlySet<string>> {
    return new Set((await this.#files.list(accountId, 'font')).map(({ id }) => id));
  }
}

export function fontToJson({ id, bytes, facts, createdAt }: BrandFile): ResponseOf<'Font'> {
  // The schema of workers checked these facts before they were stored.
  const { family, style, weights, characters, scripts } = JSON.parse(facts) as StoredFacts;
  return { id, family, style, weights, characters, scripts, bytes, created_at: createdAt };
}
