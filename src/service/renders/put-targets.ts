// Where the files of renders with `put_url` are sent to. The URL gives access to the caller's bucket, so neither it nor its
// headers are in the database with its backups and exports. They are an object of the storage, until the render ends.

import { writeFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { z } from 'zod';
import type { PutRequest } from '../../engine/caption/put-fields.ts';
import { rethrowAsStorageError, type WorkArea } from '../../engine/media/work-area.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';

const targetSchema = z.object({ url: z.string(), headers: z.record(z.string(), z.string()) });

export interface PutTargetsOptions {
  readonly storage: Pick<ObjectStorage, 'put' | 'get'>;
  readonly workArea: WorkArea;
}

/** The name of the object. */
export function targetOf(renderId: string): string {
  return `targets/${renderId}`;
}

export class PutTargets {
  readonly #options: PutTargetsOptions;

  constructor(options: PutTargetsOptions) {
    this.#options = options;
  }

  async store(renderId: string, put: PutRequest, signal?: AbortSignal): Promise<void> {
    const { storage, workArea } = this.#options;
    const name = targetOf(renderId);
    const directory = workArea.lazyDirectory(`target-${renderId}`);
    try {
      await directory.make();
      const file = directory.file('target');
      await writeFile(file, JSON.stringify(put)).catch(rethrowAsStorageError);
      await storage.put(name, file, signal);
    } finally {
      await directory.remove();
    }
  }

  /** Returns undefined when the object is gone. */
  async read(name: string): Promise<PutRequest | undefined> {
    const object = await this.#options.storage.get(name);
    if (object === undefined) return undefined;
    return targetSchema.parse(JSON.parse(await textOf(object.body).catch(rethrowAsStorageError)));
  }
}
