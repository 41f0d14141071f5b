export const GUIDE_GROUPS = ['Get started', 'Captions', 'API', 'Integrations', 'Run it yourself'] as const;
export type GuideGroup = (typeof GUIDE_GROUPS)[number];

/**
 * The guides in reading order, each with its file in docs/ and its group in the navigation. Default group: API. The reference is
 * the page /docs itself.
 */
export const GUIDE_FILES: readonly (readonly [slug: string, file: string, group?: GuideGroup])[] = [
  ['quickstart', 'guides/quickstart.md', 'Get started'],
  ['playground', 'guides/playground.md', 'Get started'],
  ['positions', 'guides/positions.md', 'Captions'],
  ['timed-captions', 'guides/timed-captions.md', 'Captions'],
  ['word-captions', 'guides/word-captions.md', 'Captions'],
  ['speech-captions', 'guides/speech-captions.md', 'Captions'],
  ['ready-to-post', 'guides/ready-to-post.md', 'Captions'],
  ['brand', 'guides/brand.md', 'Captions'],
  ['', 'api.md'],
  ['errors', 'errors.md'],
  ['webhooks', 'guides/webhooks.md'],
  ['limits', 'guides/limits.md'],
  ['asynchronous', 'guides/asynchronous.md'],
  ['buckets', 'guides/buckets.md'],
  ['versioning', 'guides/versioning.md'],
  ['integrations', 'guides/integrations.md', 'Integrations'],
  ['zapier', 'integrations/zapier.md', 'Integrations'],
  ['make', 'integrations/make.md', 'Integrations'],
  ['shopify-flow', 'integrations/shopify-flow.md', 'Integrations'],
  ['shell', 'integrations/shell.md', 'Integrations'],
  ['marketplace', 'guides/marketplace.md', 'Integrations'],
  ['self-hosting', 'guides/self-hosting.md', 'Run it yourself'],
  ['dashboard', 'dashboard.md', 'Run it yourself'],
  ['sign-in-providers', 'sign-in-providers.md', 'Run it yourself'],
  ['hardening', 'hardening.md', 'Run it yourself'],
  ['payments', 'payments.md', 'Run it yourself'],
  ['transcription', 'transcription.md', 'Run it yourself'],
  ['operating', 'operating.md', 'Run it yourself'],
  ['capacity', 'capacity.md', 'Run it yourself'],
  ['configuration', 'configuration.md', 'Run it yourself'],
];

/** The path of the page of a guide. */
export function guidePath(slug: string): string {
  return slug === '' ? '/docs' : `/docs/${slug}`;
}
