// The credits of the period when an email about used credits was sent. Null in rows of programs without this column.

import type { Migration } from '../migrations.ts';

export const CREDIT_NOTICE_LIMITS: Migration = {
  common: 'alter table credit_notices add column credits integer;',
  isCompatible: true,
};
