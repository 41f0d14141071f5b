// The index of the documentation search: every section of every page with its text.

import type { Guide } from '../guides.ts';

export interface SearchSection {
  readonly path: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

interface SearchPage {
  readonly path: string;
  readonly title: string;
  readonly body: string;
}

export function searchIndex(guides: readonly Guide[], reference: string): SearchSection[] {
  const pages: SearchPage[] = [
    { path: '/docs', title: 'API reference', body: reference },
    ...guides.map(({ slug, title, body }) => ({ path: `/docs/${slug}`, title, body: body.text })),
  ];
  return pages.flatMap(sectionsOf);
}

/** Splits a page at its headings. */
function sectionsOf({ path, title, body }: SearchPage): SearchSection[] {
  return body.split(/(?=<h[2-4] id=")/u).map((part) => {
    const heading = /^<h[2-4] id="(?<id>[^"]+)">(?<text>.*?) <a class="anchor"/su.exec(part)?.groups;
    const text = plainText(part.replace(/^<h[2-4].*?<\/h[2-4]>/su, ''));
    if (heading === undefined) return { path, page: title, title, text };
    return { path: `${path}#${heading['id'] ?? ''}`, page: title, title: plainText(heading['text'] ?? ''), text };
  });
}

function plainText(markup: string): string {
  return markup
    .replaceAll(/<button[^>]*>.*?<\/button>|<[^>]+>/gsu, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}
