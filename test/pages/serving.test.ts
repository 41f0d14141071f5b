// The public pages and the playground's routes over HTTP: headers, caching and errors.

import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { LAYOUT_WARNINGS, MEDIA_WARNINGS, SPEECH_WARNINGS } from '../../src/engine/render/warnings.ts';
import { decode, pixelAt, plainPng } from '../pictures.ts';
import { plainClip } from '../video/plain-clip.ts';
import { form, post, problemOf, startServer } from '../running-server.ts';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

async function postAsVisitor(
  path: string,
  values: Record<string, string | Buffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const from = { 'x-forwarded-for': newAddress(), ...headers };
  return await fetch(server.url + path, { method: 'POST', body: form(values), headers: from });
}

/** Sends headers that `fetch` doesn't let callers set. */
async function get(path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return await new Promise((resolve, reject) => {
    request(server.url + path, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });
}

const OPENED_IN_A_TAB = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };

describe('public pages', () => {
  it.each(['/', '/playground', '/docs', '/docs/errors', '/docs/quickstart/'])(
    'send a strict content security policy: %s',
    async (path) => {
      const response = await fetch(server.url + path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      const page = await response.text();
      expect(page).not.toMatch(/<style|<script(?! type="module" src="\/assets\/)|<[^>]*\s(?:style|on\w+)=/u);
    },
  );

  it('link to compressed assets that browsers cache forever', async () => {
    const page = await (await fetch(server.url)).text();
    const paths = [...page.matchAll(/"(?<path>\/assets\/[^"]+)"/gu)].map((match) => match.groups?.['path'] ?? '');
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) {
      const response = await fetch(server.url + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
    const style = paths.find((path) => path.endsWith('.css')) ?? '';
    const compressed = await fetch(server.url + style, { headers: { 'accept-encoding': 'br' } });
    expect(compressed.headers.get('content-encoding')).toBe('br');
    const plain = await fetch(server.url + style, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(await compressed.text());
    const compressedPage = await fetch(`${server.url}/docs`, { headers: { 'accept-encoding': 'gzip, br' } });
    expect(compressedPage.headers.get('content-encoding')).toBe('br');
    expect(await compressedPage.text()).toContain('<h1>API reference</h1>');
  });

  it('serve assets under another version as well, without caching', async () => {
    const response = await fetch(`${server.url}/assets/older/site.css`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect((await fetch(`${server.url}/assets/older/..%2fpackage.json`)).status).toBe(404);
  });

  it('public pages use the requested host in examples, unless it contains markup', async () => {
    const llmsTextFor = async (host: string): Promise<string> => (await get('/llms.txt', { host })).text;
    expect(await llmsTextFor('captions.example.com')).toContain('curl http://captions.example.com/v1/overlay');
    expect(await llmsTextFor('a"><b>')).toContain('curl http://127.0.0.1:8080/v1/overlay');
    const page = await (
      await fetch(`${server.url}/docs/quickstart`, { headers: { 'x-forwarded-proto': 'https' } })
    ).text();
    expect(page.replaceAll(/<\/?span[^>]*>/gu, '')).toContain(
      `curl ${server.url.replace('http:', 'https:')}/v1/overlay`,
    );
  });

  it('public pages return errors as HTML to browsers and as problem+json to other clients', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const page = await fetch(`${server.url}/docs/nothing`, { headers: { accept } });
    expect(page.status).toBe(404);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('That guide doesn&#39;t exist.');
    const problem = await problemOf(await fetch(`${server.url}/docs/nothing`));
    expect(problem.code).toBe('not_found');
    const api = await fetch(`${server.url}/v1/overlay`, { headers: { accept } });
    expect((await problemOf(api)).code).toBe('method_not_allowed');
    expect((await fetch(`${server.url}/docs`, { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  });

  it("an API endpoint that is opened in a tab shows an example request, even if the host isn't valid in a URL", async () => {
    for (const [host, shown] of [
      ['captions.example.com', 'captions.example.com'],
      ['x:99999', 'localhost'],
    ] as const) {
      const { status, text } = await get('/v1/overlay', { ...OPENED_IN_A_TAB, host });
      expect([host, status]).toEqual([host, 405]);
      expect(text).toContain('<h1 class="bar">This is an API endpoint</h1>');
      expect(text.replaceAll(/<\/?span[^>]*>/gu, '')).toContain(`curl http://${shown}/v1/overlay`);
    }
  });

  it("don't call a path an API endpoint if it doesn't exist", async () => {
    const { status, text } = await get('/v1/nothing', OPENED_IN_A_TAB);
    expect(status).toBe(404);
    expect(text).toContain('<h1 class="bar">Page not found</h1>');
    expect(text).not.toContain('API endpoint</h1>');
  });

  it('public pages have no dead links', async () => {
    const seen = new Map<string, string>();
    const dead: string[] = [];
    const open = async (path: string): Promise<string> => {
      const known = seen.get(path);
      if (known !== undefined) return known;
      const response = await fetch(server.url + path);
      expect([path, response.status]).toEqual([path, 200]);
      const text = await response.text();
      seen.set(path, text);
      const links = [...text.matchAll(/<a [^>]*href="(?<href>[/#][^"]*)"/gu)].map(
        (match) => match.groups?.['href'] ?? '',
      );
      for (const link of new Set(links)) {
        const [target = '', id] = link.split('#');
        const page = await open(target || path);
        if (id !== undefined && !page.includes(`id="${id}"`)) dead.push(link);
      }
      return text;
    };
    await open('/');
    expect(dead).toEqual([]);
    expect(seen.size).toBeGreaterThan(12);
  });

  it('public pages have a Markdown twin, and one file with everything for language models', async () => {
    const twin = await fetch(`${server.url}/docs/quickstart.md`);
    expect(twin.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await twin.text()).toMatch(/^# Quickstart[^]*\/v1\/overlay/u);
    const page = await (await fetch(`${server.url}/docs/quickstart`)).text();
    expect(page).toContain('<link rel="alternate" type="text/markdown" href="/docs/quickstart.md">');
    const full = await (await fetch(`${server.url}/llms-full.txt`)).text();
    for (const heading of ['# Storybar', '# API reference', '# Quickstart', '# Errors'])
      expect(full).toContain(heading);
    expect((await fetch(`${server.url}/docs/nothing.md`)).status).toBe(404);
  });

  it('public pages are listed in the sitemap, each with an image that the service renders for links', async () => {
    const sitemap = await (await fetch(`${server.url}/sitemap.xml`)).text();
    const paths = [...sitemap.matchAll(/<loc>[a-z]+:\/\/[^/]+(?<path>\/[^<]*)<\/loc>/gu)].map(
      (match) => match.groups?.['path'],
    );
    expect(paths).toEqual(expect.arrayContaining(['/', '/docs', '/docs/errors', '/changelog', '/terms', '/status']));
    expect(await (await fetch(`${server.url}/robots.txt`)).text()).toContain(`Sitemap: ${server.url}/sitemap.xml`);
    const page = await (await fetch(`${server.url}/docs/errors`)).text();
    const image = /property="og:image" content="(?<url>[^"]+)"/u.exec(page)?.groups?.['url'] ?? '';
    expect(await decode(await (await fetch(image)).arrayBuffer())).toMatchObject({ width: 1200, height: 630 });
    expect((await fetch(`${server.url}/share/nothing.png`)).status).toBe(404);
    expect((await fetch(`${server.url}/.well-known/security.txt`)).status).toBe(404);
  });

  it('the search index of the public pages links to existing sections only', async () => {
    const index = (await (await fetch(`${server.url}/docs/search.json`)).json()) as { path: string; text: string }[];
    expect(index.length).toBeGreaterThan(60);
    expect(index.find(({ path }) => path === '/docs/limits#idempotent-retries')?.text).toContain('idempotency-key');
    const pages = new Map<string, string>();
    const dead: string[] = [];
    for (const { path } of index) {
      const [page = '', id] = path.split('#');
      const text = pages.get(page) ?? (await (await fetch(server.url + page)).text());
      pages.set(page, text);
      if (id !== undefined && !text.includes(`id="${id}"`)) dead.push(path);
    }
    expect(dead).toEqual([]);
  });

  it('show an example error that the server really sends', async () => {
    const reference = readFileSync('docs/api.md', 'utf8');
    const { request: fields, response: shown } =
      /^## Field errors$[^]*?--form-string 'overlays=(?<request>.*)'[^]*?^```json\n(?<response>[^]*?)^```/mu.exec(
        reference,
      )?.groups ?? {};
    const problem = await problemOf(await post(server, form({ overlays: fields ?? '', height: '1920' })));
    const { instance: _instance, type: _type, ...documented } = JSON.parse(shown ?? '{}') as typeof problem;
    expect(problem).toMatchObject(documented);
    expect(documented.errors).toHaveLength(2);
  });

  it('show an example layout that the server really returns', async () => {
    const shown = /^## Layout$[^]*?^```json\n(?<response>[^]*?)^```/mu.exec(
      readFileSync('docs/api.md', 'utf8'),
    )?.groups;
    const response = await fetch(`${server.url}/v1/layout`, {
      method: 'POST',
      headers: { 'x-api-key': server.key, 'content-type': 'application/json' },
      body: JSON.stringify({ width: 1_080, height: 1_920, text: 'Golden hour' }),
    });
    expect(await response.json()).toEqual(JSON.parse(shown?.['response'] ?? '{}'));
  });

  it('have the contact page only where the operator has set a contact', async () => {
    expect((await fetch(`${server.url}/contact`)).status).toBe(404);
    expect(await (await fetch(`${server.url}/`)).text()).not.toContain('href="/contact"');
  });

  it('have the whole API reference: every section and every endpoint that its Markdown twin has', async () => {
    const markdown = await (await fetch(`${server.url}/docs.md`)).text();
    const page = (await (await fetch(`${server.url}/docs`)).text()).replaceAll('<wbr>', '');
    const headings = [...markdown.matchAll(/^#{2,3} (?<text>.+)$/gmu)].map(({ groups }) => groups?.['text'] ?? '');
    expect(headings.length).toBeGreaterThan(25);
    for (const heading of headings) expect(page).toContain(`">${heading} <a class="anchor"`);
    const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as { paths: Record<string, object> };
    for (const path of Object.keys(paths)) expect(page).toContain(path);
    for (const code of [...LAYOUT_WARNINGS, ...MEDIA_WARNINGS, ...SPEECH_WARNINGS])
      expect(page).toContain(`<code>${code}</code>`);
    for (const word of ['#rrggbb', 'tiktok', '/v1/batches', 'allowed origins']) expect(page).toContain(word);
    expect(markdown).not.toContain('<!--');
    expect(page).not.toContain('There is one endpoint');
  });

  it('the served OpenAPI document is the one in the repository, with code samples for the requested host', async () => {
    const response = await fetch(`${server.url}/openapi.json`);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const text = await response.text();
    const served: unknown = JSON.parse(text, (name, value: unknown) => (name === 'x-codeSamples' ? undefined : value));
    // `servers` is relative, as in the repository: clients may use HTTPS although the proxy in front of the server uses HTTP.
    expect(served).toEqual(JSON.parse(readFileSync('docs/openapi.json', 'utf8')));
    expect(text).toContain(`"source": "curl ${server.url}/v1/overlay`);
  });
});

describe('the playground', () => {
  const overlays = JSON.stringify([{ text: 'a', position: 0 }, { text: 'b' }]);

  it('the playground returns a preview with the rows of its bars', async () => {
    const response = await postAsVisitor('/playground/overlay', { width: '500', height: '1000', overlays });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-bar-rows')).toBe('0+48, 576+48');
    expect(await decode(await response.arrayBuffer())).toMatchObject({ width: 500, height: 1000 });
  });

  it('renders an image', async () => {
    const response = await postAsVisitor('/playground/render', { asset: await plainPng(60, 40, '#446688'), text: 'a' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-render-duration-ms')).toMatch(/^\d+$/u);
    expect(await decode(await response.arrayBuffer())).toMatchObject({ width: 60, height: 40 });
  });

  it('the playground watermarks previews and results like renders with a test key', async () => {
    const created = await server.cli('keys', 'create', '--plan', 'free', '--test', '--json');
    const test = { url: server.url, key: (JSON.parse(created) as { key: string }).key };
    const size = { text: 'a', width: '400', height: '500' };
    const image = { text: 'a', asset: await plainPng(400, 500, '#446688') };
    const requests: [string, Record<string, string | Buffer>][] = [
      ['/playground/overlay', size],
      ['/playground/render', image],
    ];
    for (const [path, fields] of requests) {
      const guest = Buffer.from(await (await postAsVisitor(path, fields)).arrayBuffer());
      expect(guest.equals(Buffer.from(await (await post(test, form(fields))).arrayBuffer()))).toBe(true);
      expect(guest.equals(Buffer.from(await (await post(server, form(fields))).arrayBuffer()))).toBe(false);
    }
  });

  it('the playground scales a larger image down to 1,280 pixels on its longer side', async () => {
    const asset = await plainPng(2_001, 3_000, '#446688');
    const response = await postAsVisitor('/playground/render', { asset, text: 'a' });
    const image = await decode(await response.arrayBuffer());
    expect([image.width, image.height]).toEqual([853, 1_280]);
    expect(pixelAt(image, 10, 10).slice(0, 3)).toEqual([0x44, 0x66, 0x88]);
  });

  it('the playground rejects a preview with a side of more than 1,280 pixels', async () => {
    const problem = await problemOf(
      await postAsVisitor('/playground/overlay', { width: '1281', height: '8192', text: 'a' }),
    );
    expect(problem).toMatchObject({ status: 400, code: 'invalid_fields' });
    expect(problem.errors?.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['#/width', 'out_of_range'],
      ['#/height', 'out_of_range'],
    ]);
    expect((await postAsVisitor('/playground/overlay', { width: '1280', height: '1280', text: 'a' })).status).toBe(200);
  });

  it('the playground reports every invalid field, like the API', async () => {
    const bad = JSON.stringify([{ text: ' ' }, { text: 'a', position: 101 }]);
    const problem = await problemOf(await postAsVisitor('/playground/overlay', { width: '500', overlays: bad }));
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual([
      '#/height',
      '#/overlays/0/text',
      '#/overlays/1/position',
    ]);
    const asset = await plainPng(60, 40, '#446688');
    expect(
      (await problemOf(await postAsVisitor('/playground/overlay', { asset, text: 'a' }))).errors?.[0]?.pointer,
    ).toBe('#/asset');
    const large = Buffer.alloc(3_000_000);
    expect((await problemOf(await postAsVisitor('/playground/overlay', { asset: large, text: 'a' }))).status).toBe(413);
  });

  it('the playground rejects requests from pages of other sites', async () => {
    const size = { width: '50', height: '50', text: 'a' };
    const crossSite = await postAsVisitor('/playground/overlay', size, { 'sec-fetch-site': 'cross-site' });
    expect((await problemOf(crossSite)).status).toBe(401);
    expect((await postAsVisitor('/playground/overlay', size, { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('the playground limits each IP address to six renders per minute', async () => {
    const address = { 'x-forwarded-for': newAddress() };
    const asset = await plainPng(30, 30, '#446688');
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => postAsVisitor('/playground/render', { asset, text: 'a' }, address)),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(6);
    const limited = responses.find(({ status }) => status === 429);
    if (limited === undefined) throw new Error('no request was rate limited');
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await problemOf(limited)).code).toBe('rate_limited');
    expect((await postAsVisitor('/playground/render', { asset, text: 'a' })).status).toBe(200);
  });

  it('the playground limits each IP address to STORYBAR_PLAYGROUND_RENDERS_PER_DAY, and STORYBAR_PLAYGROUND_CLIPS_PER_DAY=0 refuses videos', async () => {
    const strict = await startServer({
      STORYBAR_TRUST_PROXY: '127.0.0.1',
      STORYBAR_WORKERS: '1',
      STORYBAR_PLAYGROUND_RENDERS_PER_DAY: '2',
      STORYBAR_PLAYGROUND_CLIPS_PER_DAY: '0',
    });
    try {
      const asset = await plainPng(30, 30, '#446688');
      const render = async (address: string): Promise<Response> =>
        await fetch(`${strict.url}/playground/render`, {
          method: 'POST',
          body: form({ asset, text: 'a' }),
          headers: { 'x-forwarded-for': address },
        });
      expect([(await render('198.51.100.1')).status, (await render('198.51.100.1')).status]).toEqual([200, 200]);
      const limited = await render('198.51.100.1');
      expect(limited.status).toBe(429);
      expect((await problemOf(limited)).detail).toContain('limited to 2 renders per day');
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(10 * 3_600);
      expect((await render('198.51.100.2')).status).toBe(200);
      const clip = readFileSync(plainClip(`${strict.dataDirectory}/clip.mp4`));
      const video = await fetch(`${strict.url}/playground/render`, {
        method: 'POST',
        body: form({ asset: clip, text: 'a' }),
        headers: { 'x-forwarded-for': '198.51.100.3' },
      });
      expect((await problemOf(video)).detail).toBe('Videos need an API key. Send them to /v1/overlay.');
    } finally {
      await strict.stop();
    }
  });
});
