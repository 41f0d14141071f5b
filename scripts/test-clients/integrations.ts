// Replays every HTTP request in the recipes and in the Postman collection, and runs the script of the shell recipe.

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Environment, inEmptyFolder, run } from './package.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const RECIPES = path.join(ROOT, 'docs/integrations');
const COLLECTION = path.join(RECIPES, 'storybar.postman_collection.json');
/** Fields of the API that the server of this repository may not have yet. Requests with them then go to the stand-in. */
const NEW_FIELDS = ['deliver', 'webhook_url'];
/** What an automation tool would fill in. */
const TEMPLATES: Readonly<Record<string, string>> = {
  '{{secrets.STORYBAR_KEY}}': 'sb_live_...',
  '{{1.id}}': 'item-1',
  '{{product.id}}': 'product-1',
  '{{product.updatedAt}}': '2026-03-01T12:00:00Z',
  '{{product.featuredMedia.preview.image.url}}': 'https://files.example.com/photo.jpg',
  '{{product.title | json}}': '"Beach \\"towel\\""',
  '{{product.vendor | json}}': '"Golden hour"',
};

interface RecipeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export async function testIntegrations(env: Environment): Promise<void> {
  for (const recipe of readdirSync(RECIPES).filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(path.join(RECIPES, recipe), 'utf8');
    const requests = [...text.matchAll(/^```http\n(.*?)^```$/gmsu)].map(([, block = '']) => parse(block, env));
    if (requests.length === 0 && recipe !== 'shell.md') throw new Error(`docs/integrations/${recipe} has no requests.`);
    for (const request of requests) await replay(recipe, request, env);
  }
  await replayCollection(env);
  await runShellRecipe(env);
}

function parse(block: string, env: Environment): RecipeRequest {
  const filled = Object.entries(TEMPLATES)
    .reduce((text, [template, value]) => text.replaceAll(template, value), block)
    .replaceAll('https://files.example.com', `${env['STORYBAR_STAND_IN_URL']}/files`);
  const [head = '', ...rest] = filled.split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const [method = '', url = ''] = first.split(' ');
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/u, 2) as [string, string]));
  const body = rest.join('\n\n');
  if (filled.includes('{{')) throw new Error(`The request has an unknown template:\n${filled}`);
  return { method, url, headers, body };
}

async function replay(recipe: string, { method, url, headers, body }: RecipeRequest, env: Environment): Promise<void> {
  const known = readFileSync(path.join(ROOT, 'docs/openapi.json'), 'utf8');
  const isNew = NEW_FIELDS.some((field) => body.includes(`"${field}"`) && !known.includes(`"${field}"`));
  const base = env[isNew ? 'STORYBAR_STAND_IN_URL' : 'STORYBAR_TEST_URL'] ?? '';
  const response = await fetch(url.replace('https://captions.example.com', base), {
    method,
    headers: { ...headers, 'x-api-key': env['STORYBAR_TEST_KEY'] ?? '' },
    body,
  });
  const received = Buffer.from(await response.arrayBuffer());
  const wanted = headers['prefer'] === 'respond-async' ? 202 : 200;
  if (response.status !== wanted) throw new Error(`${recipe}: ${response.status} ${received.toString()}`);
  const type = response.headers.get('content-type') ?? '';
  const isLink = body.includes('"deliver"') && !received.toString().includes('"url"');
  if (isLink) throw new Error(`${recipe}: the response has no link: ${received.toString()}`);
  console.log(
    `ok: ${recipe}: ${method} ${new URL(url).pathname} returns ${response.status} ${type}${isNew ? ' (stand-in)' : ''}`,
  );
}

interface Item {
  readonly name: string;
  readonly item?: readonly Item[];
  readonly request?: {
    readonly method: string;
    readonly url: { readonly raw: string; readonly variable?: readonly unknown[] };
    readonly body?: {
      readonly raw?: string;
      readonly formdata?: readonly Field[];
      readonly urlencoded?: readonly Field[];
    };
  };
}

interface Field {
  readonly key: string;
  readonly type: string;
  readonly value?: string;
  readonly src?: string;
  readonly disabled?: boolean;
}

async function replayCollection(env: Environment): Promise<void> {
  const { item: folders } = JSON.parse(readFileSync(COLLECTION, 'utf8')) as { item: readonly Item[] };
  for (const { name, request } of folders.flatMap(({ item = [] }) => item)) {
    // A request for a certain render needs its id, which only the reader knows.
    if (request === undefined || request.url.variable !== undefined) continue;
    const url = request.url.raw.replace('{{baseUrl}}', env['STORYBAR_TEST_URL'] ?? '');
    const response = await fetch(url, {
      method: request.method,
      headers: {
        'x-api-key': env['STORYBAR_TEST_KEY'] ?? '',
        ...(request.body?.raw !== undefined && { 'content-type': 'application/json' }),
      },
      body: bodyOf(request.body),
    });
    const received = await response.text();
    if (!response.ok) throw new Error(`${name}: ${response.status} ${received}`);
    console.log(`ok: the collection's request "${name}" returns ${response.status}`);
  }
}

function bodyOf(body: NonNullable<Item['request']>['body']): string | FormData | URLSearchParams | null {
  if (body?.raw !== undefined) return body.raw;
  const fields = (body?.formdata ?? body?.urlencoded ?? []).filter(({ disabled }) => disabled !== true);
  if (body?.urlencoded)
    return new URLSearchParams(Object.fromEntries(fields.map(({ key, value = '' }) => [key, value])));
  if (body?.formdata === undefined) return null;
  const form = new FormData();
  for (const { key, type, value = '', src = '' } of fields) {
    if (type === 'file') form.append(key, new Blob([readFileSync(path.join(ROOT, 'examples', src))]), src);
    else form.append(key, value);
  }
  return form;
}

/** Twice: the second run has nothing left to do. */
async function runShellRecipe(env: Environment): Promise<void> {
  const script = /^```sh\n(.*?)^```$/msu.exec(readFileSync(path.join(RECIPES, 'shell.md'), 'utf8'))?.[1] ?? '';
  await inEmptyFolder('recipe', async (folder) => {
    mkdirSync(path.join(folder, 'in'));
    for (const file of ['photo.jpg', 'clip.mp4']) cpSync(path.join(folder, file), path.join(folder, 'in', file));
    cpSync(path.join(folder, 'photo.jpg'), path.join(folder, 'in', 'with "quotes"; & spaces.JPG'));
    writeFileSync(path.join(folder, 'caption-folder.sh'), script);
    const variables = {
      STORYBAR_URL: env['STORYBAR_TEST_URL'] ?? '',
      STORYBAR_API_KEY: env['STORYBAR_TEST_KEY'] ?? '',
    };
    const results = ['clip.mp4', 'photo.png', 'with "quotes"; & spaces.png'];
    for (const _ of [1, 2]) {
      await run('bash', ['caption-folder.sh', 'in', 'out', 'Golden hour; @home'], folder, variables);
      const found = readdirSync(path.join(folder, 'out')).toSorted();
      if (found.join() !== results.join()) throw new Error(`The shell recipe made ${found.join(', ')}.`);
    }
    console.log('ok: the shell recipe captions a folder, and skips finished files when it runs again');
  });
}
