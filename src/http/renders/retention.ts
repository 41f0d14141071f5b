// Deletes what is no longer needed: assets of ended renders, expired results, objects that a crash left behind, and old
// records. Several servers may do this at the same time.

import type { ObjectStorage } from '../../storage/object-storage.ts';
import type { Renders } from '../../store/renders/renders.ts';

const BATCH = 100;
const DAY_MS = 24 * 3_600_000;
const KEEP_RECORDS_DAYS = 30;
/** An object gets its row soon after it was put, or never. */
const ORPHAN_AFTER_MS = DAY_MS;

export async function deleteExpiredObjects(renders: Renders, storage: ObjectStorage): Promise<number> {
  let deleted = 0;
  for (;;) {
    const objects = await renders.expiredObjects(BATCH);
    for (const object of objects) {
      await storage.delete(object.name);
      await renders.markDeleted(object);
    }
    deleted += objects.length;
    if (objects.length < BATCH) return deleted;
  }
}

export async function deleteOldRecords(renders: Renders, storage: ObjectStorage, now = new Date()): Promise<void> {
  await deleteOrphans(renders, storage, now);
  await renders.deleteBefore(new Date(now.getTime() - KEEP_RECORDS_DAYS * DAY_MS));
}

async function deleteOrphans(renders: Renders, storage: ObjectStorage, now: Date): Promise<void> {
  for (const folder of ['assets', 'outputs']) {
    for await (const { name, modifiedAt } of storage.list(folder)) {
      if (now.getTime() - modifiedAt.getTime() < ORPHAN_AFTER_MS) continue;
      for (const orphan of await renders.orphans([name])) await storage.delete(orphan);
    }
  }
}
