// Files that outlive a request: assets of accepted renders, and results until they expire. Whether one is still needed is
// decided by the database, so every operation here may be repeated.

import type { Readable } from 'node:stream';

/** Both ends count, as in an HTTP range. */
export interface ObjectRange {
  readonly start: number;
  readonly end: number;
}

export interface StoredObject {
  /** Of the whole object, whatever the range. */
  readonly bytes: number;
  /** Must be read or destroyed. */
  readonly body: Readable;
}

export interface ObjectEntry {
  readonly name: string;
  readonly modifiedAt: Date;
}

/** Names have the form `folder/name`. Throws `storage_unavailable` when the storage can't be used right now. */
export interface ObjectStorage {
  /** Stores a copy of a local file. It appears under its name when it is complete and will survive a crash. */
  put(name: string, file: string, signal?: AbortSignal): Promise<void>;
  /** Writes the object to a new local file. False when there is none. */
  copyTo(name: string, file: string, signal: AbortSignal): Promise<boolean>;
  /** Undefined when there is no such object. */
  size(name: string): Promise<number | undefined>;
  /** Undefined when there is no such object. The range must be inside it. */
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

/** Names are made by this program, so any other is a bug. */
export function assertObjectName(name: string): void {
  if (!isObjectName(name)) throw new TypeError(`"${name}" isn't the name of a stored object`);
}
