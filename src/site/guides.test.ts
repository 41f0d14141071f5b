import { expect, it, vi } from 'vitest';
import { guidePage, loadGuides } from './guides.ts';
import { type Html, html } from './html.ts';

it('a guide page renders the form that sends a request only where the guide marks a place for it', async () => {
  const guides = await loadGuides('docs');
  const tryIt = vi.fn<() => Html>(() => html`<form>the form</form>`);
  const pages = guides.map((guide) => guidePage(guides, guide, 'https://captions.example.com', tryIt));
  const withForm = pages.filter(({ body }) => body.text.includes('<form>the form</form>'));
  expect(withForm.map(({ path }) => path)).toEqual(['/docs/quickstart', '/docs']);
  expect(tryIt).toHaveBeenCalledTimes(2);
});
