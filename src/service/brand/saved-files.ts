// Files that an account uploaded for its renders: logos and fonts. A worker has checked and written each of them before it
// comes here. The object is stored before its row, so a crash in between leaves only an object that the sweep deletes.

import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Caller } from '../account/caller.ts';
import { AppError } from '../../shared/errors.ts';
import type { ErrorCode } from '../../shared/error-table.ts';
import { storageError, storageLimitsOf } from '../limits/storage-limits.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import type { Actor } from '../store/audit.ts';
import {
  type BrandFile,
  type BrandFileKind,
  type BrandFileLimits,
  type BrandFiles,
  objectOf,
} from '../store/brand/brand-files.ts';
import { isOutcomeUnknown, type OverLimit, type OverStorage } from '../store/renders/render.ts';

export interface SavedFilesOptions {
  readonly files: BrandFiles;
  readonly storage: Pick<ObjectStorage, 'put' | 'get' | 'copyTo' | 'delete'>;
  /** The limit of all accounts together. */
  readonly serviceBytes: number;
  /** True if several servers may use the database, but each has a storage of its own. */
  readonly lacksSharedStorage: boolean;
}

export interface NewBrandFile {
  readonly kind: BrandFileKind;
  /** The path of the local file. */
  readonly path: string;
  readonly bytes: number;
  /** What there is to know about the file without reading it, as JSON. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** What it takes to read a file. */
export type BrandObject = Pick<BrandFile, 'id' | 'kind' | 'sha256'>;

interface Kind {
  /** The limit of the plan, and the plural. */
  readonly limit: 'logos' | 'fonts';
  readonly tooMany: ErrorCode;
  readonly notFound: ErrorCode;
  readonly title: string;
}

const KINDS: Readonly<Record<BrandFileKind, Kind>> = {
  logo: { limit: 'logos', tooMany: 'too_many_logos', notFound: 'logo_not_found', title: 'Logo' },
  font: { limit: 'fonts', tooMany: 'too_many_fonts', notFound: 'font_not_found', title: 'Font' },
};

export class SavedFiles {
  readonly #options: SavedFilesOptions;

  constructor(options: SavedFilesOptions) {
    this.#options = options;
  }

  /** Refuses an upload before it is received or processed. */
  async assertRoom(caller: Caller, kind: BrandFileKind, bytes = 1): Promise<void> {
    const { files, lacksSharedStorage } = this.#options;
    if (lacksSharedStorage) {
      const detail =
        'This server shares its database with others, but not its storage. Its operator must set STORYBAR_STORAGE.';
      throw new AppError('brand_files_disabled', detail);
    }
    const limits = this.#limitsOf(caller, kind);
    const exceeded = await files.exceeded(caller.accountId, { kind, bytes }, limits);
    if (exceeded) throw limitError(exceeded, kind, limits);
  }

  async add(
    caller: Caller,
    { kind, path, bytes, facts }: NewBrandFile,
    actor: Actor,
    signal: AbortSignal,
  ): Promise<BrandFile> {
    const { files, storage } = this.#options;
    await this.assertRoom(caller, kind, bytes);
    const limits = this.#limitsOf(caller, kind);
    const id = `${kind}_${randomBytes(16).toString('hex')}`;
    const file = { id, kind, bytes, sha256: await sha256Of(path), facts: JSON.stringify(facts) };
    await storage.put(objectOf(file), path, signal);
    try {
      const addition = await files.add(caller.accountId, file, limits, actor);
      if (addition.kind === 'added') return addition.file;
      throw limitError(addition, kind, limits);
    } catch (error) {
      // When the outcome is unknown, the row may need its object. The sweep deletes one without a row.
      if (!isOutcomeUnknown(error)) await storage.delete(objectOf(file)).catch(() => undefined);
      throw error;
    }
  }

  async list(accountId: string, kind: BrandFileKind): Promise<BrandFile[]> {
    return await this.#options.files.list(accountId, kind);
  }

  /** Throws `logo_not_found` or `font_not_found`. */
  async find(accountId: string, kind: BrandFileKind, id: string): Promise<BrandFile> {
    const found = await this.#options.files.find(accountId, kind, id);
    if (found === undefined) throw notFound(kind);
    return found;
  }

  /** For an accepted request, which keeps a file that has been deleted since. */
  async findForRender(accountId: string, kind: BrandFileKind, id: string): Promise<BrandFile | undefined> {
    return await this.#options.files.findKept(accountId, kind, id);
  }

  /** Accepted renders keep the file. */
  async remove(accountId: string, kind: BrandFileKind, id: string, actor: Actor): Promise<void> {
    if (!(await this.#options.files.remove(accountId, kind, id, actor))) throw notFound(kind);
  }

  /** Returns the whole file. */
  async read(file: BrandObject): Promise<Buffer> {
    const stored = await this.#options.storage.get(objectOf(file));
    if (stored === undefined) throw missing(file);
    const bytes = await buffer(stored.body);
    if (createHash('sha256').update(bytes).digest('hex') !== file.sha256) throw missing(file);
    return bytes;
  }

  #limitsOf(caller: Caller, kind: BrandFileKind): BrandFileLimits {
    const { serviceBytes } = this.#options;
    const storage = storageLimitsOf(caller, { serviceBytes, of: 'request' });
    return { ...storage, files: caller.plan.limits[KINDS[kind].limit] };
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function limitError(
  exceeded: OverLimit<'files'> | OverStorage,
  kind: BrandFileKind,
  limits: BrandFileLimits,
): AppError {
  const { what, actual } = exceeded;
  if (what !== 'files') return storageError({ kind: 'over limit', what, actual }, limits);
  const { limit: plural, tooMany } = KINDS[kind];
  const detail = `Your plan allows ${limits.files} ${plural}. Delete one first.`;
  return new AppError(tooMany, detail, { limit: { limit: limits.files, actual } });
}

function notFound(kind: BrandFileKind): AppError {
  const { notFound: code, title } = KINDS[kind];
  return new AppError(code, `${title} not found.`);
}

/** The row says that there is a file, so the storage lost or damaged it, or can't be reached completely. */
function missing({ kind, id }: BrandObject): AppError {
  const detail = `The ${kind} ${id} could not be read. Try again later, or upload it again.`;
  return new AppError('storage_unavailable', detail, { retryAfterSeconds: 2 });
}
