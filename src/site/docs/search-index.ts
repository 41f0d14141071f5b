// The index of the documentation search: every section of every page with its text.

import type { SearchSection } from '../browser/search-ranking.ts';
import { guidePath } from '../guide-files.ts';
import type { Guide } from '../guides.ts';
import type { Page } from '../page.ts';
import type { PlainPage } from './plain-pages.ts';

interface SearchPage {
  readonly path: string;
  readonly title: string;
  readonly body: string;
  readonly weight: number;
}

/** Few readers run the service, and fewer look for an old change. */
const OPERATOR_WEIGHT = 0.7;
const PLAIN_WEIGHT = 0.8;
const CHANGELOG_WEIGHT = 0.3;

/** A page of the site beside the documentation that answers questions, such as the prices. */
export type SitePage = Pick<Page, 'path' | 'title' | 'description'> & Partial<Pick<Page, 'body'>>;

export function searchIndex(
  guides: readonly Guide[],
  plainPages: readonly PlainPage[],
  sitePages: readonly SitePage[] = [],
): SearchSection[] {
  const pages: SearchPage[] = [
    ...guides.map(({ slug, title, body, group }) => ({
      path: guidePath(slug),
      title,
      body: body.text,
      weight: group === 'Run it yourself' ? OPERATOR_WEIGHT : 1,
    })),
    ...plainPages.map(({ path, title, body }) => ({
      path,
      title,
      body: body.text,
      weight: path.startsWith('/changelog') ? CHANGELOG_WEIGHT : PLAIN_WEIGHT,
    })),
  ];
  return [...pages.flatMap(sectionsOf), ...sitePages.map(sitePageSection)];
}

function sitePageSection({ path, title, description, body }: SitePage): SearchSection {
  const name = title.replace(/ - Storybar$/u, '');
  return { path, page: name, title: name, text: `${description} ${plainText(body?.text ?? '')}`, weight: 1 };
}

/** A page is cut at its headings. */
function sectionsOf({ path, title, body, weight }: SearchPage): SearchSection[] {
  return body.split(/(?=<h[2-4] id=")/u).map((part) => {
    const heading = /^<h[2-4] id="(?<id>[^"]+)">(?<text>.*?) <a class="anchor"/su.exec(part)?.groups;
    const text = plainText(part.replace(/^<h[2-4].*?<\/h[2-4]>/su, ''));
    if (heading === undefined) return { path, page: title, title, text, weight };
    return {
      path: `${path}#${heading['id'] ?? ''}`,
      page: title,
      title: plainText(heading['text'] ?? ''),
      text,
      weight,
    };
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
