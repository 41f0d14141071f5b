// Files that outlive a request: assets of accepted renders, and results until they expire. The database decides whether
// a file is still needed, so every operation here may be repeated.

import type { Readable } from 'node:stream';

/** A range that includes both ends, as in HTTP. */
export interface ObjectRange {
  readonly start: number;
  readonly end: number;
}

export interface StoredObject {
  /** The size of the whole object, whatever the range. */
  readonly bytes: number;
  /** The caller must read or destroy the body. */
  readonly body: Readable;
}

export interface ObjectEntry {
  readonly name: string;
  readonly modifiedAt: Date;
}

/** Names have the form `folder/name`. Throws `storage_unavailable` when the storage can't be used right now. */
export interface ObjectStorage {
  /** Stores a copy of a local file. It appears under its name once it is complete and will survive a crash. */
  put(name: string, file: string, signal?: AbortSignal): Promise<void>;
  /** Writes the object to a new local file. Returns false when there is none. */
  copyTo(name: string, file: string, signal: AbortSignal): Promise<boolean>;
  /** Returns undefined when there is no such object. */
  size(name: string): Promise<number | undefined>;
  /** Returns undefined when there is no such object. The range must be inside it. */
  get(name: string, range?: ObjectRange): Promise<StoredObject | undefined>;
  /** Does nothing when there is no such object. */
  delete(name: string): Promise<void>;
  list(folder: string): AsyncIterable<ObjectEntry>;
  close(): void;
}

const NAME = /^[a-z]+\/[\w.-]+$/u;

export function isObjectName(name: string): boolean {
  return NAME.test(name) && !name.includes('..');
}

/** Names are created by this program, so any other name is a bug. */
export function assertObjectName(name: string): void {
  if (!isObjectName(name)) throw new TypeError(`"${name}" isn't the name of a stored object`);
}
