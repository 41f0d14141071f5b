// Fills the generated parts of docs/api.md, the source of the API reference, from the tables of the server: what a table says
// exists once, and the page and its Markdown have all of it.

import { readFileSync } from 'node:fs';
import { FAULTS } from '../src/service/api/faults.ts';
import { ERRORS } from '../src/shared/error-table.ts';
import { OVERLAY_FIELDS } from '../src/engine/caption/overlay.ts';
import { snippetsFor } from '../src/site/browser/snippets.ts';
import { EXAMPLE_REQUESTS } from '../src/site/example-requests.ts';
import { openApiDocument } from '../src/service/http/reference/openapi.ts';
import { FIELDS } from '../src/service/http/reference/openapi-form.ts';
import { FILE_HEADERS, HEADERS, RESPONSE_HEADERS } from '../src/service/http/reference/response-headers.ts';

const FILE = 'docs/api.md';
/** The base URL that pages replace with their own. */
const EXAMPLE_URL = 'http://127.0.0.1:8080';

/** Where a field is explained, as a heading of the reference. */
const SECTIONS: Partial<Record<string, string>> = {
  asset_url: 'Files from a URL',
  captions: 'Times and subtitles',
  max_words: 'Words with times',
  max_lines: 'Words with times',
  color_space: 'Formats',
  style: 'Styles',
  safe_area: 'Safe areas',
  strict: 'Warnings',
  format: 'Formats',
  fit: 'Size of the file',
  at: 'Covers',
  duration: 'Transparent video',
  fps: 'Transparent video',
  max_bytes: 'Size in bytes',
  async: 'Asynchronous renders',
  deliver: 'Asynchronous renders',
  webhook_url: 'Webhooks',
};

/** Fields without an entry are optional. */
const REQUIRED: Partial<Record<string, string>> = {
  width: 'without an asset, with `fit`',
  height: 'without an asset, with `fit`',
  text: 'or `overlays`, `captions`',
  overlays: 'or `text`, `captions`',
  captions: 'or `text`, `overlays`',
};

const PARTS: Readonly<Record<string, () => string[]>> = {
  endpoints,
  examples,
  fields: () => rowsOf(['field', 'required', 'meaning'], fieldRows()),
  'overlay keys': () =>
    rowsOf(
      ['key', 'meaning'],
      Object.entries(OVERLAY_FIELDS).map(([name, { description }]) => [code(name), description]),
    ),
  headers: () => rowsOf(['header', 'meaning'], headerRows()),
  errors: () => rowsOf(['status', 'code', 'title'], errorRows()),
  'field errors': () =>
    rowsOf(
      ['code', 'meaning'],
      Object.entries(FAULTS).map(([name, meaning]) => [code(name), meaning]),
    ),
};

export function generateReference(): string {
  const seen = new Set<string>();
  const text = readFileSync(FILE, 'utf8').replaceAll(
    /(?<start><!-- generated: (?<name>[a-z ]+) -->\n)[^]*?(?<end><!-- end -->)/gu,
    (_match, start: string, name: string, end: string) => {
      const part = PARTS[name];
      if (part === undefined) throw new Error(`${FILE} has an unknown generated part: ${name}`);
      seen.add(name);
      return `${start}\n${part().join('\n')}\n\n${end}`;
    },
  );
  const missing = Object.keys(PARTS).filter((name) => !seen.has(name));
  if (missing.length > 0) throw new Error(`${FILE} lacks the generated part ${missing.join(', ')}`);
  return text;
}

interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
}

function endpoints(): string[] {
  const { paths } = openApiDocument('') as unknown as { paths: Record<string, Record<string, Operation>> };
  const rows = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { summary }]) => [code(`${method.toUpperCase()} ${path}`), summary]),
    );
  return rowsOf(['endpoint', 'what it does'], rows);
}

/** Readers of a page choose one of the languages, which follow each other. */
function examples(): string[] {
  const languages: Readonly<Record<string, string>> = { curl: 'sh', typescript: 'ts', python: 'python' };
  return EXAMPLE_REQUESTS.flatMap(({ title, description, request }, index) => [
    ...(index === 0 ? [] : ['']),
    `### ${title}`,
    '',
    description,
    ...snippetsFor({ ...request, baseUrl: EXAMPLE_URL }).flatMap(({ id, code: text }) => {
      const language = languages[id];
      return language === undefined ? [] : ['', `\`\`\`${language}`, text, '```'];
    }),
  ]);
}

function fieldRows(): string[][] {
  return Object.entries(FIELDS).map(([name, { description }]) => {
    const section = SECTIONS[name];
    const more = section === undefined ? '' : ` See [${section}](#${section.toLowerCase().replaceAll(' ', '-')}).`;
    return [code(name), REQUIRED[name] ?? 'no', `${description}${more}`];
  });
}

/** Every header of a finished file. */
function headerRows(): string[][] {
  const described = { ...HEADERS, ...RESPONSE_HEADERS };
  const names = new Set<keyof typeof described>(['content-type', ...FILE_HEADERS]);
  return [...names].map((name) => [code(name), described[name].description]);
}

function errorRows(): string[][] {
  return Object.entries(ERRORS)
    .filter(([name]) => name !== 'client_closed')
    .toSorted(([, a], [, b]) => a.status - b.status)
    .map(([name, { status, title }]) => [String(status), `[${code(name)}](errors.md#${name})`, title]);
}

function code(text: string): string {
  return `\`${text}\``;
}

function rowsOf(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(columns), `|${columns.map(() => '---|').join('')}`, ...rows.map(line)];
}
