// The parts of the code that hold money and trust, and the quick tests that concern them.

import { must } from '../../src/shared/must.ts';

interface Part {
  /** The files that are mutated. */
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

const PARTS: Readonly<Record<string, Part>> = {
  pricing: {
    files: ['src/service/account/pricing.ts', 'src/service/account/credits.ts'],
    tests: ['src/service/account/pricing.test.ts', 'src/service/account/credits.test.ts'],
  },
  ledger: {
    files: ['src/service/store/ledger/ledger.ts'],
    tests: ['test/mutation/ledger-contract.ts', 'test/store/pending-writes.test.ts'],
  },
  holds: {
    files: [
      'src/service/store/ledger/holds.ts',
      'src/service/store/ledger/period-balance.ts',
      'src/service/store/ledger/test-renders.ts',
    ],
    tests: ['test/mutation/ledger-contract.ts'],
  },
  'pending-writes': {
    files: ['src/service/store/ledger/pending-writes.ts', 'src/service/store/ledger/reconcile.ts'],
    tests: ['test/mutation/ledger-contract.ts', 'test/store/pending-writes.test.ts'],
  },
  admission: {
    files: [
      'src/service/http/access/admission.ts',
      'src/service/account/gcra.ts',
      'src/service/limits/rate-limiter.ts',
      'src/service/limits/local-limits.ts',
      'src/service/limits/failed-decodes.ts',
      'src/service/limits/failures.ts',
    ],
    tests: [
      'src/service/http/access/admission.test.ts',
      'src/service/account/gcra.test.ts',
      'src/service/limits/rate-limiter.test.ts',
      'src/service/limits/failed-decodes.test.ts',
      'src/service/limits/local-limits.test.ts',
    ],
  },
  queue: {
    files: [
      'src/service/dispatch/queue/fair-queue.ts',
      'src/service/dispatch/queue/place.ts',
      'src/service/dispatch/queue/shares.ts',
    ],
    tests: ['src/service/dispatch/queue/*.test.ts'],
  },
  idempotency: {
    files: ['src/service/renders/idempotency.ts', 'src/service/store/requests/idempotency.ts'],
    tests: [
      'src/service/renders/idempotency.test.ts',
      'test/mutation/idempotency-contract.ts',
      'test/store/pending-writes.test.ts',
    ],
  },
  'fetch-policy': {
    files: ['src/service/fetch/addresses.ts', 'src/service/fetch/fetch-policy.ts'],
    tests: ['src/service/fetch/addresses.test.ts', 'src/service/fetch/fetch-policy.test.ts'],
  },
  reports: {
    files: ['src/service/dispatch/reports.ts', 'src/engine/media/probe-schema.ts'],
    tests: ['src/service/dispatch/*reports.test.ts'],
  },
};

export const PART_NAMES = Object.keys(PARTS);

export function partNamed(name: string): Part {
  return must(PARTS[name], `a part named ${name}`);
}
