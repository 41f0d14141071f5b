// Fonts of an account: how the API shows them, and their use in renders.

import type { ResponseOf } from '../api/response-schemas.ts';
import { AppError } from '../../shared/errors.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import { type BrandFile, objectOf } from '../store/brand/brand-files.ts';
import type { SavedFiles } from './saved-files.ts';

export const FONTS_PATH = '/v1/fonts';

type StoredFacts = Pick<ResponseOf<'Font'>, 'family' | 'style' | 'weights' | 'characters' | 'scripts'>;

/** Finds the fonts of renders. */
export class SavedFonts {
  readonly #files: Pick<SavedFiles, 'findForRender'>;
  readonly #storage: Pick<ObjectStorage, 'copyTo'>;

  constructor(files: Pick<SavedFiles, 'findForRender'>, storage: Pick<ObjectStorage, 'copyTo'>) {
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
}

export function fontToJson({ id, bytes, facts, createdAt }: BrandFile): ResponseOf<'Font'> {
  // The schema of workers checked these facts before they were stored.
  const { family, style, weights, characters, scripts } = JSON.parse(facts) as StoredFacts;
  return { id, family, style, weights, characters, scripts, bytes, created_at: createdAt };
}
