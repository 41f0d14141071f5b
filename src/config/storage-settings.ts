// The data directory, the database and how long records are kept.

import path from 'node:path';
import { databaseUrl, wholeNumber } from './parse.ts';
import { setting } from './setting.ts';

export const STORAGE_SETTINGS = {
  dataDirectory: setting(
    'STORYBAR_DATA_DIR',
    './data',
    'Directory for the database and for files during a render. Created if it is missing.',
    (text) => (text.trim() === '' ? { fault: 'must name a directory' } : { value: path.resolve(text) }),
  ),
  databaseUrl: setting(
    'STORYBAR_DATABASE_URL',
    '',
    'PostgreSQL database, such as `postgres://user:password@host/name`. Use it for more than one server. Default: an embedded SQLite database in the data directory.',
    databaseUrl,
  ),
  keepRendersDays: setting(
    'STORYBAR_KEEP_RENDERS_DAYS',
    '90',
    "Days to keep single renders in an account's history. Daily totals are kept forever.",
    wholeNumber(1, 3_650),
  ),
} as const;
