/** The guides in reading order, each with its file in docs/. */
export const GUIDE_FILES: readonly (readonly [slug: string, file: string])[] = [
  ['quickstart', 'guides/quickstart.md'],
  ['positions', 'guides/positions.md'],
  ['timed-captions', 'guides/timed-captions.md'],
  ['errors', 'errors.md'],
  ['limits', 'guides/limits.md'],
  ['marketplace', 'guides/marketplace.md'],
  ['versioning', 'guides/versioning.md'],
  ['self-hosting', 'guides/self-hosting.md'],
  ['dashboard', 'dashboard.md'],
  ['hardening', 'hardening.md'],
  ['payments', 'payments.md'],
  ['operating', 'operating.md'],
  ['capacity', 'capacity.md'],
  ['configuration', 'configuration.md'],
];
