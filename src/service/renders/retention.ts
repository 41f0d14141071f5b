// Deletes the files and records that nothing uses: assets of ended renders, expired results, deleted logos and fonts, objects that a
// crash left behind, and old records. Several servers may do this at the same time.

import type { ObjectStorage } from '../storage/object-storage.ts';
import { BRAND_FOLDER, type BrandFiles } from '../store/brand/brand-files.ts';
import type { Renders } from '../store/renders/renders.ts';
import type { Logger } from '../telemetry/logger.ts';

const BATCH = 100;
const DAY_MS = 24 * 3_600_000;
const KEEP_RECORDS_DAYS = 30;
/** An object gets its row soon after it was put, or never. */
const ORPHAN_AFTER_MS = DAY_MS;

export interface RetentionOptions {
  readonly renders: Pick<Renders, 'expiredObjects' | 'markDeleted' | 'orphans' | 'deleteBefore'>;
  readonly brandFiles: Pick<BrandFiles, 'expiredObjects' | 'markDeleted' | 'orphans'>;
  readonly storage: Pick<ObjectStorage, 'delete' | 'list'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Returns how many were deleted. */
export async function deleteExpiredObjects(options: RetentionOptions): Promise<number> {
  return (await deleteExpired(options.renders, options)) + (await deleteExpired(options.brandFiles, options));
}

interface ExpiringObjects<Expired> {
  expiredObjects(count: number): Promise<Expired[]>;
  markDeleted(object: Expired): Promise<void>;
}

async function deleteExpired<Expired extends { readonly name: string; readonly renderId?: string }>(
  owner: ExpiringObjects<Expired>,
  options: RetentionOptions,
): Promise<number> {
  const deletion = new Deletion(options);
  for (;;) {
    // Objects that couldn't be deleted are found again.
    const objects = await owner.expiredObjects(BATCH + deletion.failed.size);
    const page = objects.filter(({ name }) => !deletion.failed.has(name));
    let deleted = 0;
    for (const object of page) {
      if (!(await deletion.tryDelete(object.name, object.renderId))) continue;
      await owner.markDeleted(object);
      deleted += 1;
    }
    if (page.length > 0 && deleted === 0) throw deletion.lastError;
    if (page.length < BATCH) return deletion.deleted;
  }
}

export async function deleteOldRecords(options: RetentionOptions, now = new Date()): Promise<void> {
  await options.renders.deleteBefore(new Date(now.getTime() - KEEP_RECORDS_DAYS * DAY_MS));
  await deleteOrphans(options, now);
}

async function deleteOrphans(options: RetentionOptions, now: Date): Promise<void> {
  const { renders, brandFiles, storage } = options;
  const deletion = new Deletion(options);
  const owners = { assets: renders, outputs: renders, targets: renders, [BRAND_FOLDER]: brandFiles };
  for (const [folder, owner] of Object.entries(owners)) {
    for await (const { name, modifiedAt } of storage.list(folder)) {
      if (now.getTime() - modifiedAt.getTime() < ORPHAN_AFTER_MS) continue;
      for (const orphan of await owner.orphans([name])) await deletion.tryDelete(orphan);
      if (deletion.deleted === 0 && deletion.failed.size === BATCH) throw deletion.lastError;
    }
  }
}

/** One object that can't be deleted must not keep all others from being deleted. */
class Deletion {
  readonly failed = new Set<string>();
  deleted = 0;
  lastError: unknown;
  readonly #options: RetentionOptions;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  async tryDelete(object: string, renderId?: string): Promise<boolean> {
    const { storage, logger } = this.#options;
    try {
      await storage.delete(object);
      this.deleted += 1;
      return true;
    } catch (error) {
      this.failed.add(object);
      this.lastError = error;
      logger.warn({ object, renderId, err: error }, 'stored object not deleted, retrying later');
      return false;
    }
  }
}
