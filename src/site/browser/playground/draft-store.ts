// Keeps the visitor's work over a reload: the draft in local storage, the file in IndexedDB. Both can be switched off
// or full. Then the work lasts as long as the page, which is why failures are ignored here.

import { type Draft, draftFromJson, draftToJson } from './draft.ts';

const DRAFT_KEY = 'storybar-draft';
const DATABASE = 'storybar';
const FILES = 'files';
const FILE_KEY = 'media';
/** Browsers may store less. */
const MAX_FILE_BYTES = 200_000_000;

export function loadDraft(): Draft | undefined {
  return draftFromJson(() => localStorage.getItem(DRAFT_KEY) ?? '');
}

export function saveDraft(draft: Draft): void {
  try {
    localStorage.setItem(DRAFT_KEY, draftToJson(draft));
  } catch {
    // See the top of this file.
  }
}

/** Returns undefined if there is none. */
export async function loadFile(): Promise<File | undefined> {
  const file: unknown = await withFiles('readonly', (files) => files.get(FILE_KEY)).catch(() => undefined);
  return file instanceof File ? file : undefined;
}

/** Without a file, deletes the stored one. */
export async function saveFile(file: File | undefined): Promise<void> {
  const kept = file !== undefined && file.size <= MAX_FILE_BYTES ? file : undefined;
  // Undefined is stored as well, and then counts as no file.
  await withFiles('readwrite', (files) => files.put(kept, FILE_KEY)).catch(() => undefined);
}

export async function forgetWork(): Promise<void> {
  try {
    localStorage.removeItem(DRAFT_KEY);
  } catch {
    // See the top of this file.
  }
  await saveFile(undefined);
}

async function withFiles<Result>(
  mode: IDBTransactionMode,
  act: (files: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(FILES));
  const database = await resultOf(opening);
  try {
    return await resultOf(act(database.transaction(FILES, mode).objectStore(FILES)));
  } finally {
    database.close();
  }
}

async function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return await new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')));
  });
}
