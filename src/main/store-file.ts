import path from 'node:path';
import type { Settings } from '../config/settings.ts';
import { SqliteStore } from '../store/sqlite.ts';

export function openStore({ dataDirectory }: Pick<Settings, 'dataDirectory'>): SqliteStore {
  return new SqliteStore(path.join(dataDirectory, 'storybar.db'));
}
