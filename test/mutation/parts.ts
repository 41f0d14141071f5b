// The parts of the code that hold money and trust, and the quick tests that concern them.

import { must } from '../../src/primitives/must.ts';

interface Part {
  /** The files that are mutated. */
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

const PARTS: Readonly<Record<string, Part>> = {
  pricing: {
    files: ['src/account/pricing.ts', 'src/account/credits.ts'],
    tests: ['src/account/pricing.test.ts', 'src/account/credits.test.ts'],
  },
  ledger: {
    files: ['src/store/ledger/ledger.ts'],
    tests: ['test/mutation/ledger-contract.ts', 'test/store/pending-writes.test.ts'],
  },
  holds: {
    files: ['src/store/ledger/holds.ts', 'src/store/ledger/period-balance.ts', 'src/store/ledger/test-renders.ts'],
    tests: ['test/mutation/ledger-contract.ts'],
  },
  'pending-writes': {
    files: ['src/store/ledger/pending-writes.ts', 'src/store/ledger/reconcile.ts'],
    tests: ['test/mutation/ledger-contract.ts', 'test/store/pending-writes.test.ts'],
  },
  admission: {
    files: [
      'src/http/access/admission.ts',
      'src/account/gcra.ts',
      'src/limits/rate-limiter.ts',
      'src/limits/local-limits.ts',
      'src/limits/failed-decodes.ts',
      'src/limits/failures.ts',
    ],
    tests: [
      'src/http/access/admission.test.ts',
      'src/account/gcra.test.ts',
      'src/limits/rate-limiter.test.ts',
      'src/limits/failed-decodes.test.ts',
      'src/limits/local-limits.test.ts',
    ],
  },
  queue: {
    files: ['src/dispatch/queue/fair-queue.ts', 'src/dispatch/queue/place.ts', 'src/dispatch/queue/shares.ts'],
    tests: ['src/dispatch/queue/*.test.ts'],
  },
  idempotency: {
    files: ['src/renders/idempotency.ts', 'src/store/requests/idempotency.ts'],
    tests: [
      'src/renders/idempotency.test.ts',
      'test/mutation/idempotency-contract.ts',
      'test/store/pending-writes.test.ts',
    ],
  },
  'fetch-policy': {
    files: ['src/fetch/addresses.ts', 'src/fetch/fetch-policy.ts'],
    tests: ['src/fetch/addresses.test.ts', 'src/fetch/fetch-policy.test.ts'],
  },
  reports: {
    files: ['src/dispatch/reports.ts', 'src/media/probe-schema.ts'],
    tests: ['src/dispatch/*reports.test.ts'],
  },
};

export const PART_NAMES = Object.keys(PARTS);

export function partNamed(name: string): Part {
  return must(PARTS[name], `a part named ${name}`);
}
