// Repeats a write of a background task while the database is unavailable, because giving up would repeat the task's work.

import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../errors.ts';

const ATTEMPTS = 8;
const FIRST_PAUSE_MS = 500;

export interface RepeatOptions {
  /** Returns true during a shutdown, which no pause may delay. */
  readonly isStopping: () => boolean;
  /** Called before each repetition. */
  readonly onFailure: (error: AppError) => void;
}

export async function repeatWrite<Result>(
  write: () => Promise<Result>,
  { isStopping, onFailure }: RepeatOptions,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'storage_unavailable') throw error;
      if (attempt === ATTEMPTS || isStopping()) throw error;
      onFailure(error);
      await wait(FIRST_PAUSE_MS * attempt);
    }
  }
}
