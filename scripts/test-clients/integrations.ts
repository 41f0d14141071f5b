// Replays every HTTP request in the recipes, and runs the script of the shell recipe.

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { must } from '../../src/shared/must.ts';
import { until } from '../../test/running-server.ts';
import { type Environment, inEmptyFolder, run } from './package.ts';
import { readmeVariables, withStandIn } from './readme.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const RECIPES = path.join(ROOT, 'docs/integrations');
/** Values that an automation tool would fill in. */
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

interface FinishedRender {
  readonly status: string;
  readonly output: { readonly url: string; readonly bytes: number } | null;
}

export async function testIntegrations(env: Environment): Promise<void> {
  for (const recipe of readdirSync(RECIPES).filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(path.join(RECIPES, recipe), 'utf8');
    const requests = [...text.matchAll(/^```http\n(.*?)^```$/gmsu)].map(([, block = '']) => parse(block, env));
    if (requests.length === 0 && recipe !== 'shell.md') throw new Error(`docs/integrations/${recipe} has no requests.`);
    for (const request of requests) await replay(recipe, request, env);
  }
  await runShellRecipe(env);
  await runSkill(env);
}

/** Runs the commands that the skill file teaches assistants. */
async function runSkill(env: Environment): Promise<void> {
  const skill = readFileSync(path.join(ROOT, 'clients/skill/storybar/SKILL.md'), 'utf8');
  const commands = [...skill.matchAll(/^```sh\n(.*?)^```$/gmsu)].map(([, code = '']) => code);
  if (commands.length === 0) throw new Error('The skill file has no commands.');
  await inEmptyFolder('skill', async (folder) => {
    for (const command of commands) await run('bash', ['-euc', command], folder, readmeVariables(env));
  });
  console.log(`ok: the ${commands.length} commands of the skill file`);
}

function parse(block: string, env: Environment): RecipeRequest {
  const texts = Object.entries(TEMPLATES).reduce((text, [template, value]) => text.replaceAll(template, value), block);
  const filled = withStandIn(texts, env);
  const [head = '', ...rest] = filled.split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const [method = '', url = ''] = first.split(' ');
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/u, 2) as [string, string]));
  const body = rest.join('\n\n');
  if (filled.includes('{{')) throw new Error(`The request has an unknown template:\n${filled}`);
  return { method, url, headers, body };
}

async function replay(recipe: string, { method, url, headers, body }: RecipeRequest, env: Environment): Promise<void> {
  const response = await fetch(url.replace('https://captions.example.com', must(env['TESTS_URL'], 'URL')), {
    method,
    headers: { ...headers, 'x-api-key': must(env['TESTS_KEY'], 'key') },
    body,
  });
  const received = Buffer.from(await response.arrayBuffer());
  const isAccepted = headers['prefer'] === 'respond-async' || url.endsWith('/v1/batches');
  if (response.status !== (isAccepted ? 202 : 200))
    throw new Error(`${recipe}: ${response.status} ${received.toString()}`);
  if (body.includes('"deliver"')) await checkResult(recipe, JSON.parse(received.toString()) as FinishedRender);
  for (const [webhookUrl, count] of webhooksOf(body)) await checkWebhooks(recipe, webhookUrl, count);
  const type = response.headers.get('content-type') ?? '';
  console.log(`ok: ${recipe}: ${method} ${new URL(url).pathname} returns ${response.status} ${type}`);
}

/** Counts the webhooks that the request asks for, by URL. */
function webhooksOf(body: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, url = ''] of body.matchAll(/"webhook_url": "([^"]+)"/gu)) counts.set(url, (counts.get(url) ?? 0) + 1);
  return counts;
}

/** The stand-in lists the webhooks that a URL got. */
async function checkWebhooks(recipe: string, url: string, count: number): Promise<void> {
  const bodies = await until(async () => {
    const received = (await (await fetch(url)).json()) as readonly { readonly body: string }[];
    return received.length >= count && received.map(({ body }) => body);
  });
  for (const body of bodies) await checkResult(recipe, (JSON.parse(body) as { data: FinishedRender }).data);
}

async function checkResult(recipe: string, render: FinishedRender): Promise<void> {
  if (render.output === null) throw new Error(`${recipe}: the render has no link: ${JSON.stringify(render)}`);
  const file = await (await fetch(render.output.url)).arrayBuffer();
  if (file.byteLength !== render.output.bytes) throw new Error(`${recipe}: the link has ${file.byteLength} bytes.`);
}

/** Runs the recipe twice, because the second run must have nothing left to do. */
async function runShellRecipe(env: Environment): Promise<void> {
  const script = /^```sh\n(.*?)^```$/msu.exec(readFileSync(path.join(RECIPES, 'shell.md'), 'utf8'))?.[1] ?? '';
  await inEmptyFolder('recipe', async (folder) => {
    mkdirSync(path.join(folder, 'in'));
    for (const file of ['photo.jpg', 'clip.mp4']) cpSync(path.join(folder, file), path.join(folder, 'in', file));
    cpSync(path.join(folder, 'photo.jpg'), path.join(folder, 'in', 'with "quotes"; & spaces.JPG'));
    writeFileSync(path.join(folder, 'in', 'notes.txt'), 'This is skipped.');
    writeFileSync(path.join(folder, 'caption-folder.sh'), script);
    const results = ['clip.mp4', 'photo.png', 'with "quotes"; & spaces.png'];
    for (const _ of [1, 2]) {
      await run('bash', ['caption-folder.sh', 'in', 'out', 'Golden hour; @home'], folder, readmeVariables(env));
      const found = readdirSync(path.join(folder, 'out')).toSorted();
      if (found.join() !== results.join()) throw new Error(`The shell recipe made ${found.join(', ')}.`);
    }
    console.log('ok: the shell recipe captions a folder, and skips finished files when it runs again');
  });
}
