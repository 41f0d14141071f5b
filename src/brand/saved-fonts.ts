// Fonts of an account: how the API shows them, and their use in requests.

import type { ResponseOf } from '../api/response-schemas.ts';
import { ownFontsIn } from '../caption/named-styles.ts';
import type { Form } from '../caption/field-reader.ts';
import { isOwnFont } from '../caption/fonts.ts';
import { unknownFont } from '../caption/style-field.ts';
import { AppError, type FieldFault } from '../errors.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import { type BrandFile, objectOf } from '../store/brand/brand-files.ts';
import type { SavedFiles } from './saved-files.ts';

export const FONTS_PATH = '/v1/fonts';

type StyledForm = Pick<Form, 'fields' | 'isJson' | 'faults'>;
type StoredFacts = Pick<ResponseOf<'Font'>, 'family' | 'style' | 'weights' | 'characters' | 'scripts'>;

/** Checks the fonts that requests and styles name when they arrive, and finds them for renders. */
export class SavedFonts {
  readonly #files: Pick<SavedFiles, 'findForRequest' | 'findForRender'>;
  readonly #storage: Pick<ObjectStorage, 'copyTo'>;

  constructor(files: Pick<SavedFiles, 'findForRequest' | 'findForRender'>, storage: Pick<ObjectStorage, 'copyTo'>) {
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

  /** A font that the account doesn't have becomes a fault of the form. */
  async check<Some extends StyledForm>(accountId: string, form: Some): Promise<Some> {
    const used = ownFontsIn(form);
    if (used.length === 0) return form;
    const missing = await this.#missing(accountId, [...new Set(used.map(({ id }) => id))]);
    const faults = used.filter(({ id }) => missing.has(id)).map(({ id, pointer }) => unknownFont(id, pointer));
    return faults.length === 0 ? form : { ...form, faults: [...form.faults, ...faults] };
  }

  /** The faults of a style that is saved. */
  async faultsOf(accountId: string, font: unknown, pointer: string): Promise<FieldFault[]> {
    if (typeof font !== 'string' || !isOwnFont(font)) return [];
    return (await this.#missing(accountId, [font])).has(font) ? [unknownFont(font, pointer)] : [];
  }

  async #missing(accountId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await Promise.all(ids.map(async (id) => await this.#files.findForRequest(accountId, 'font', id)));
    return new Set(ids.filter((_, index) => found[index] === undefined));
  }
}

export function fontToJson({ id, bytes, facts, createdAt }: BrandFile): ResponseOf<'Font'> {
  // The schema of workers checked these facts before they were stored.
  const { family, style, weights, characters, scripts } = JSON.parse(facts) as StoredFacts;
  return { id, family, style, weights, characters, scripts, bytes, created_at: createdAt };
}
