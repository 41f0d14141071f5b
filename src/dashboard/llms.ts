// llms.txt: the service in one page of Markdown, for programs that read.

import { snippetsFor } from './browser/snippets.ts';
import { DOCUMENTED_CALLS } from './documented-calls.ts';
import type { Guide } from './guides.ts';

export function llmsText(guides: readonly Guide[], baseUrl: string): string {
  const calls = DOCUMENTED_CALLS.flatMap(({ title, words, call }) => {
    const [curl] = snippetsFor({ ...call, baseUrl });
    return [`### ${title}`, '', words, '', '```sh', curl?.code ?? '', '```', ''];
  });
  return [
    '# Storybar',
    '',
    '> Story-style caption bars on photos and videos, from one HTTP call: `POST /v1/overlay`, `multipart/form-data`, key in',
    '> `x-api-key`. The finished PNG or MP4 is the body of the answer. Errors are `application/problem+json` with a stable',
    '> `code`, and list every fault at once.',
    '',
    '## Calls',
    '',
    ...calls,
    '## Documentation',
    '',
    `- [OpenAPI 3.1](${baseUrl}/openapi.json): every field, header and error, for programs`,
    `- [API reference](${baseUrl}/docs): the same, for people`,
    ...guides.map(({ slug, title, summary }) => `- [${title}](${baseUrl}/docs/${slug}): ${summary}`),
    '',
  ].join('\n');
}
