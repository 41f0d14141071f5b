// Pages made of one Markdown file: the changelog, the terms, the privacy policy and the retention periods. The last
// three are templates that an operator can replace. The contact page is here, too.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Html, html } from '../html.ts';
import { type Article, renderMarkdown } from '../markdown.ts';
import type { Page } from '../page.ts';
import { changelogFor } from './changelog.ts';

export interface PlainPage extends Article {
  readonly path: string;
}

const LEGAL_PAGES = ['terms', 'privacy', 'retention'] as const;

/** `custom` is a folder with the operator's own versions. If it is empty, all pages come from the templates. */
export async function loadPlainPages(docs: string, changelog: string, custom: string): Promise<PlainPage[]> {
  const legal = LEGAL_PAGES.map(async (name) => ({
    path: `/${name}`,
    ...renderMarkdown(await readLegalPage(docs, custom, name)),
  }));
  const changes = await readFile(changelog, 'utf8');
  return [
    { path: '/changelog', ...renderMarkdown(changelogFor('callers', changes)) },
    { path: '/changelog/operators', ...renderMarkdown(changelogFor('operators', changes)) },
    ...(await Promise.all(legal)),
  ];
}

async function readLegalPage(docs: string, custom: string, name: string): Promise<string> {
  const template = path.join(docs, 'legal', `${name}.md`);
  if (custom === '') return await readFile(template, 'utf8');
  try {
    return await readFile(path.join(custom, `${name}.md`), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return await readFile(template, 'utf8');
    throw error;
  }
}

export function plainPage({ path: pagePath, title, summary, body }: PlainPage): Page {
  return {
    title: `${title} - Storybar`,
    description: summary,
    path: pagePath,
    styles: ['docs.css'],
    body: html`<article class="narrow plain-page"><h1>${title}</h1>${body}</article>`,
  };
}

/** How to reach the operator, as they have configured it. */
export function contactPage(contact: string, securityContact: string): Page {
  return {
    title: 'Contact - Storybar',
    description: 'How to reach the people who run this service.',
    path: '/contact',
    styles: ['docs.css'],
    body: html`<article class="narrow plain-page"><h1>Contact</h1>
<p>Questions about your account, plans and invoices: ${contactLink(contact)}.</p>
<p>About a render, send its <code>x-render-id</code>, which is also in every error and on the page of the request in your dashboard. Don’t
send your API key.</p>
${securityContact !== '' && html`<p>Vulnerabilities: ${contactLink(securityContact)}.</p>`}
<p>Many answers are in the <a href="/docs">documentation</a>, under <a href="/docs/errors">Errors</a> and on the
<a href="/status">status page</a>.</p></article>`,
  };
}

function contactLink(contact: string): Html {
  const isUrl = contact.includes('://');
  return html`<a href="${isUrl ? contact : `mailto:${contact}`}">${contact}</a>`;
}
