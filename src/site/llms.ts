// llms.txt: the API on one page of Markdown, for language models.

import { FIELDS } from '../service/http/reference/openapi-form.ts';
import { ERRORS } from '../shared/error-table.ts';
import { must } from '../shared/must.ts';
import { snippetsFor } from './browser/snippets.ts';
import { EXAMPLE_REQUESTS } from './example-requests.ts';
import { guidePath } from './guide-files.ts';
import type { Guide } from './guides.ts';

export function llmsText(guides: readonly Guide[], baseUrl: string): string {
  const examples = EXAMPLE_REQUESTS.flatMap(({ title, description, request }) => {
    const curl = must(
      snippetsFor({ ...request, baseUrl }).find(({ id }) => id === 'curl'),
      'curl snippet',
    );
    return [`### ${title}`, '', description, '', '```sh', curl.code, '```', ''];
  });
  return [
    '# Storybar',
    '',
    '> Story-style captions for photos and videos. `POST /v1/overlay` renders: send `multipart/form-data`, or',
    '> JSON when you upload no file, with your API key in `x-api-key` or as a bearer token.',
    '> The response body is the finished PNG (or JPEG or WebP, with `format`) or MP4. Errors are `application/problem+json` with a stable `code`, and report',
    '> every invalid field at once. `POST /v1/layout` shows where captions would go, and `GET /v1/usage` what you have used; both',
    '> are free.',
    '',
    '## Example requests',
    '',
    ...examples,
    '## Fields',
    '',
    ...Object.entries(FIELDS).map(([name, { description }]) => `- \`${name}\`: ${description}`),
    '',
    '## Errors',
    '',
    ...errorLines(),
    '',
    '## Documentation',
    '',
    `Each of these pages is also available as Markdown: add \`.md\` to its address. ${baseUrl}/llms-full.txt has all of them.`,
    '',
    `- [OpenAPI 3.1](${baseUrl}/openapi.json): every field, header and error, machine-readable`,
    ...guides.map(({ slug, title, summary }) => `- [${title}](${baseUrl}${guidePath(slug)}): ${summary}`),
    '',
  ].join('\n');
}

/** Returns one line per status. */
function errorLines(): string[] {
  const visible = Object.entries(ERRORS).filter(([code]) => code !== 'client_closed');
  const statuses = [...new Set(visible.map(([, { status }]) => status))].toSorted((a, b) => a - b);
  return statuses.map((each) => {
    const codes = visible.filter(([, { status }]) => status === each).map(([code]) => `\`${code}\``);
    return `- ${each}: ${codes.join(', ')}`;
  });
}
