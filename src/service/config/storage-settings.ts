// Settings of the data directory, the database and retention periods.

import path from 'node:path';
import { anyText, databaseUrl, keyFile, oneOf, storageLocation, wholeNumber } from './parse.ts';
import { setting } from './setting.ts';

const TLS_MODES = ['', 'disable', 'require', 'verify-full'] as const;

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
  databasePool: setting(
    'STORYBAR_DATABASE_POOL',
    '10',
    'Connections to PostgreSQL that each API server opens at most. All servers together must stay below `max_connections`.',
    wholeNumber(2, 1_000),
  ),
  databaseTls: setting(
    'STORYBAR_DATABASE_TLS',
    '',
    'TLS for PostgreSQL: `disable`, `require` (encrypted, certificate not checked) or `verify-full` (certificate and host name checked). Default: `sslmode` in the URL, otherwise no TLS, or `verify-full` with STORYBAR_DATABASE_CA.',
    oneOf(TLS_MODES),
  ),
  databaseAuthorities: setting(
    'STORYBAR_DATABASE_CA',
    '',
    'PEM file with the certificate authorities to trust for PostgreSQL; implies TLS. Default: the public authorities.',
    anyText,
  ),
  encryptionKeys: setting(
    'STORYBAR_ENCRYPTION_KEYS',
    '',
    'File with keys that encrypt the secrets of authenticator apps and webhooks in the database: one key per line, each 32 bytes in Base64 or hexadecimal, such as from `openssl rand -base64 32`. The first key encrypts, all decrypt. Default: these secrets are stored as plain text. See docs/hardening.md.',
    keyFile,
  ),
  isAsync: setting(
    'STORYBAR_ASYNC',
    'on',
    '`on` accepts asynchronous renders and `deliver=url`, which keep uploads and results in storage. `off` refuses them and keeps no media.',
    (text) => {
      const parsed = oneOf(['on', 'off'] as const)(text);
      return 'value' in parsed ? { value: parsed.value === 'on' } : parsed;
    },
  ),
  storage: setting(
    'STORYBAR_STORAGE',
    '',
    'Where uploads and results of asynchronous renders, logos and fonts are kept: `s3://bucket/prefix` in an S3-compatible service, or `file:` and a directory that all API servers share. Default: `objects` in the data directory. With PostgreSQL, all of these are refused until it is set, because other servers could not find the files.',
    storageLocation,
  ),
  storedGigabytes: setting<number | undefined>(
    'STORYBAR_STORED_GB',
    '',
    'Gigabytes that uploads and results of all accounts together may take up in storage. Requests that would store more get 503 `storage_full`: on plans without a price when half is in use, on other plans when nine tenths are. Default: half of the disk that a directory is on, or 1000 for a bucket.',
    (text) => (text === '' ? { value: undefined } : wholeNumber(1, 1_000_000_000)(text)),
  ),
  resultHours: setting(
    'STORYBAR_RESULT_HOURS',
    '24',
    'Hours that the result of an asynchronous render can be downloaded. It is deleted afterwards.',
    wholeNumber(1, 720),
  ),
  keepRendersDays: setting(
    'STORYBAR_KEEP_RENDERS_DAYS',
    '90',
    "Days to keep single renders in an account's history. Totals per day and per key are kept forever.",
    wholeNumber(1, 3_650),
  ),
} as const;
