// The playground over HTTP: renders that the visitor's account pays for, the free clip of a visitor, previews of a frame of a
// video, and progress.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decode, pixelAt, plainPng } from '../pictures.ts';
import { form, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { plainClip } from '../video/plain-clip.ts';
import { SmtpServer } from './smtp-server.ts';
import { Visitor } from './visitor.ts';

let smtp: SmtpServer;
let server: RunningServer;
let origin: string;
beforeAll(async () => {
  smtp = await SmtpServer.start();
  server = await startServer({
    STORYBAR_TRUST_PROXY: '127.0.0.1',
    STORYBAR_PLAYGROUND_CLIPS_PER_DAY: '2',
    STORYBAR_SMTP_URL: smtp.url,
    STORYBAR_MAIL_FROM: 'Storybar <captions@example.com>',
    STORYBAR_PUBLIC_URL: 'https://captions.example.com',
  });
  ({ origin } = new URL(server.url));
});
afterAll(async () => {
  await server.stop();
  await smtp.stop();
});

let visitors = 0;
const newAddress = (): string => `192.0.2.${(visitors += 1)}`;

interface PlaygroundAccount {
  readonly email: string;
  readonly mode: string;
  readonly credits: number;
  readonly token: string;
  readonly logos: readonly { readonly id: string; readonly label: string }[];
}

const accountOf = async (visitor: Visitor): Promise<PlaygroundAccount | null> => {
  const response = await visitor.get('/playground/account');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('content-encoding')).toBeNull();
  return (JSON.parse(response.text) as { account: PlaygroundAccount | null }).account;
};

const unconfirmedMember = async (): Promise<{ visitor: Visitor; email: string }> => {
  const visitor = new Visitor(server.url, newAddress());
  const email = `member-${(visitors += 1)}@example.com`;
  await visitor.signUp(email);
  return { visitor, email };
};
const confirmedMember = async (): Promise<Visitor> => {
  const { visitor, email } = await unconfirmedMember();
  const path = /\/confirm\?link=[\w-]{43}/u.exec((await smtp.emailTo(email)).text)?.[0] ?? '';
  await visitor.submit(path, { link: path.slice(path.indexOf('=') + 1) }, '/confirm');
  return visitor;
};

const render = async (
  path: string,
  fields: Record<string, string | Buffer>,
  headers: Record<string, string>,
): Promise<Response> => await fetch(`${server.url}${path}`, { method: 'POST', body: form(fields), headers });

const asMember = ({ cookies }: Visitor, token: string): Record<string, string> => ({
  cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  'x-forwarded-for': newAddress(),
  'x-form-token': token,
  'sec-fetch-site': 'same-origin',
  origin,
});

describe('a signed-in visitor', () => {
  it('a signed-in visitor pays from the session: no watermark, one credit, and the request is in the log', async () => {
    const visitor = await confirmedMember();
    const account = await accountOf(visitor);
    expect(account).toMatchObject({ mode: 'live', credits: 100 });
    const asset = await plainPng(2_000, 300, '#446688');
    const headers = asMember(visitor, account?.token ?? '');
    const response = await render('/playground/account/render', { asset, text: 'a' }, headers);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-credits-charged')).toBe('1');
    expect((await decode(await response.arrayBuffer())).width).toBe(2_000);
    await until(async () => ((await accountOf(visitor))?.credits === 99 ? true : undefined));
    await until(async () =>
      (await visitor.get('/dashboard/requests')).text.includes('/playground/account/render') ? true : undefined,
    );
    for (const path of ['/dashboard', '/dashboard/requests']) {
      const { text } = await visitor.get(path);
      expect(text).toContain('Playground (signed in)');
      expect(text.toLowerCase()).not.toContain('marketplace');
    }
  });

  it('a signed-in visitor gets watermarked renders for free until the address is confirmed', async () => {
    const { visitor, email } = await unconfirmedMember();
    const account = await accountOf(visitor);
    expect(account).toMatchObject({ email, mode: 'test' });
    const size = { width: '300', height: '400', text: 'a' };
    const response = await render('/playground/account/render', size, asMember(visitor, account?.token ?? ''));
    expect([response.status, response.headers.get('x-credits-charged')]).toEqual([200, '0']);
    const guest = await render('/playground/overlay', size, { 'x-forwarded-for': newAddress() });
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(await guest.arrayBuffer()))).toBe(true);
  });

  it('a signed-in visitor is charged nothing by another site, by a wrong token or without a token', async () => {
    const visitor = await confirmedMember();
    const other = await accountOf(await confirmedMember());
    const { token = '' } = (await accountOf(visitor)) ?? {};
    const own = asMember(visitor, token);
    const { 'x-form-token': _token, ...withoutToken } = own;
    const { cookie: _cookie, ...withoutCookie } = own;
    const attempts: Record<string, string>[] = [
      { ...own, origin: 'https://evil.example' },
      { ...own, 'sec-fetch-site': 'cross-site' },
      { ...own, 'x-form-token': other?.token ?? '' },
      withoutToken,
      withoutCookie,
    ];
    for (const headers of attempts) {
      const response = await render('/playground/account/render', { width: '50', height: '50', text: 'a' }, headers);
      expect((await problemOf(response)).code).toBe('form_refused');
    }
    expect((await accountOf(visitor))?.credits).toBe(100);
  });

  it('a visitor gets 401 after signing out, and then what visitors get', async () => {
    const visitor = await confirmedMember();
    const { token = '' } = (await accountOf(visitor)) ?? {};
    const headers = asMember(visitor, token);
    await visitor.submit('/dashboard', {}, '/signout');
    const response = await render('/playground/account/render', { width: '50', height: '50', text: 'a' }, headers);
    expect((await problemOf(response)).code).toBe('missing_api_key');
    expect(await accountOf(visitor)).toBeNull();
  });

  it('a signed-in visitor gets what visitors get while the account is suspended', async () => {
    const visitor = await confirmedMember();
    const { token = '' } = (await accountOf(visitor)) ?? {};
    const accounts = JSON.parse(await server.cli('accounts', 'list', '--json')) as { id: string; createdAt: string }[];
    const newest = accounts.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0];
    await server.cli('accounts', 'suspend', newest?.id ?? '');
    expect(await accountOf(visitor)).toBeNull();
    const size = { width: '50', height: '50', text: 'a' };
    const response = await render('/playground/account/render', size, asMember(visitor, token));
    expect((await problemOf(response)).code).toBe('key_suspended');
  });
});

describe('the preview of a signed-in visitor', () => {
  const preview = async (
    fields: Record<string, string>,
    headers: Record<string, string>,
  ): Promise<{ status: number; isMarked: boolean; image: Buffer }> => {
    const response = await render('/playground/overlay', { text: 'a', ...fields }, headers);
    const isMarked = !response.headers.has('x-unmarked');
    return { status: response.status, isMarked, image: Buffer.from(await response.arrayBuffer()) };
  };
  const small = { width: '300', height: '400' };

  it('a visitor can send 64 KiB of captions, and no more', async () => {
    const captions = (bytes: number): string =>
      JSON.stringify({ words: [{ word: 'Hi', start: 1, end: 2 }] }).padEnd(bytes, ' ');
    const pages = async (bytes: number): Promise<Response> =>
      await render(
        '/playground/pages',
        { ...small, duration: '4', captions: captions(bytes) },
        { 'x-forwarded-for': newAddress() },
      );
    const most = await pages(65_536);
    expect(await most.json()).toMatchObject({ pages: [{ text: 'Hi' }] });
    expect(await problemOf(await pages(65_537))).toMatchObject({
      status: 400,
      errors: [{ pointer: '#/captions', code: 'too_large' }],
    });
  });

  it('the preview of a signed-in visitor with credits has no watermark up to 720 pixels, 60 times an hour', async () => {
    const visitor = await confirmedMember();
    const { token = '' } = (await accountOf(visitor)) ?? {};
    const started = Date.now();
    const first = await preview(small, asMember(visitor, token));
    expect([first.status, first.isMarked]).toEqual([200, false]);
    const paid = await render('/playground/account/render', { text: 'a', ...small }, asMember(visitor, token));
    expect(first.image.equals(Buffer.from(await paid.arrayBuffer()))).toBe(true);
    expect((await preview({ width: '400', height: '721' }, asMember(visitor, token))).isMarked).toBe(true);
    // One after another: so many at once would be refused as overload.
    const further = [];
    for (let sent = 0; sent < 70; sent++) further.push(await preview(small, asMember(visitor, token)));
    expect(new Set(further.map(({ status }) => status))).toEqual(new Set([200]));
    const unmarked = 1 + further.filter(({ isMarked }) => !isMarked).length;
    const minutes = Math.ceil((Date.now() - started) / 60_000);
    expect(unmarked).toBeGreaterThanOrEqual(60);
    // The allowance refills by one per minute while the test runs.
    expect(unmarked).toBeLessThanOrEqual(60 + minutes);
    const marked = further.find(({ isMarked }) => isMarked);
    const guest = await preview(small, { 'x-forwarded-for': newAddress() });
    expect(marked?.image.equals(guest.image)).toBe(true);
    expect(guest.isMarked).toBe(true);
    expect(guest.image.equals(first.image)).toBe(false);
  });

  it('the preview of a signed-in visitor has a watermark while renders have one', async () => {
    const { visitor } = await unconfirmedMember();
    const { token = '' } = (await accountOf(visitor)) ?? {};
    expect((await preview(small, asMember(visitor, token))).isMarked).toBe(true);
  });

  it('a saved style is used in previews and pages by its name, only by its account', async () => {
    const visitor = await confirmedMember();
    const { token = '' } = (await accountOf(visitor)) ?? {};
    const put = async (headers: Record<string, string>): Promise<Response> =>
      await fetch(`${server.url}/playground/account/styles/acme`, {
        method: 'PUT',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ preset: 'box', max_words: 2 }),
      });
    const saved = await put(asMember(visitor, token));
    expect(await saved.json()).toMatchObject({ name: 'acme', version: 1, style: { preset: 'box', max_words: 2 } });
    expect(await accountOf(visitor)).toMatchObject({ styles: [{ name: 'acme', style: { preset: 'box' } }] });
    const styled = await preview({ ...small, style: 'acme' }, asMember(visitor, token));
    const box = await preview({ ...small, style: 'box' }, asMember(visitor, token));
    expect(styled.status).toBe(200);
    expect(styled.image.equals(box.image)).toBe(true);
    const words = ['One', 'two', 'three'].map((word, at) => ({ word, start: at, end: at + 0.9 }));
    const fields = { ...small, duration: '4', captions: JSON.stringify({ words }), style: 'acme' };
    const pages = await render('/playground/pages', fields, asMember(visitor, token));
    expect(((await pages.json()) as { pages: { text: string }[] }).pages.map(({ text }) => text)).toEqual([
      'One two',
      'three',
    ]);
    expect((await preview({ ...small, style: 'acme' }, { 'x-forwarded-for': newAddress() })).status).toBe(400);
    const { 'x-form-token': _token, ...withoutToken } = asMember(visitor, token);
    expect((await problemOf(await put(withoutToken))).code).toBe('form_refused');
  });

  it('the preview of a signed-in visitor has the logo of a style, which other accounts and visitors without one cannot use', async () => {
    const visitor = await confirmedMember();
    const { token = '' } = (await accountOf(visitor)) ?? {};
    const asset = await plainPng(100, 100, '#ff0000');
    const uploaded = await render('/dashboard/brand/logos/upload', { asset }, asMember(visitor, token));
    expect([uploaded.status, await uploaded.text()]).toEqual([201, expect.anything()]);
    const [logo] = (await accountOf(visitor))?.logos ?? [];
    expect(logo?.label).toMatch(/^100 × 100, …[\da-f]{6}$/u);
    const style = JSON.stringify({ logo: { id: logo?.id, corner: 'bottom-left' } });
    const own = await preview({ ...small, style }, asMember(visitor, token));
    expect([own.status, own.isMarked]).toEqual([200, false]);
    const pixels = await decode(own.image);
    expect([pixelAt(pixels, 30, 370), pixelAt(pixels, 270, 370)[3]]).toEqual([[255, 0, 0, 255], 0]);
    const paid = await render('/playground/account/render', { text: 'a', ...small, style }, asMember(visitor, token));
    expect(own.image.equals(Buffer.from(await paid.arrayBuffer()))).toBe(true);
    const other = await confirmedMember();
    const { token: others = '' } = (await accountOf(other)) ?? {};
    const fields = { ...small, text: 'a', style };
    const foreign = await problemOf(await render('/playground/overlay', fields, asMember(other, others)));
    expect(foreign.errors).toMatchObject([{ code: 'unknown_logo' }]);
    const guest = await render('/playground/overlay', fields, { 'x-forwarded-for': newAddress() });
    expect((await problemOf(guest)).detail).toBe('Logos need an API key.');
  });
});

describe('a file that the browser cannot show', () => {
  const still = async (asset: Buffer | undefined): Promise<Response> =>
    await render('/playground/still', asset ? { asset } : {}, { 'x-forwarded-for': newAddress() });

  it('a file that the browser cannot show comes back as a small JPEG with the facts about it', async () => {
    const photo = await still(await plainPng(2_000, 500, '#446688'));
    expect(JSON.parse(photo.headers.get('x-media') ?? '')).toEqual({ kind: 'image', width: 2_000, height: 500 });
    expect(photo.headers.get('content-type')).toBe('image/jpeg');
    expect((await decode(await photo.arrayBuffer())).width).toBe(1_280);
    const file = plainClip(`${server.dataDirectory}/still.mp4`, {
      width: 64,
      height: 48,
      frames: 20,
      timeBase: { num: 1, den: 10 },
    });
    const video = await still(readFileSync(file));
    expect(JSON.parse(video.headers.get('x-media') ?? '')).toEqual({
      kind: 'video',
      width: 64,
      height: 48,
      seconds: 2,
    });
    expect((await decode(await video.arrayBuffer())).width).toBe(64);
  });

  it('a file that nothing can show, and none at all, are refused', async () => {
    expect((await problemOf(await still(Buffer.from('hello')))).code).toBe('unsupported_asset');
    expect((await problemOf(await still(undefined))).code).toBe('invalid_fields');
  });
});

describe('a visitor with a key', () => {
  it('renders as with the API, whose errors are the same', async () => {
    const size = { width: '50', height: '50', text: 'a' };
    const address = { 'x-forwarded-for': newAddress() };
    const paid = await render('/playground/account/render', size, { ...address, 'x-api-key': server.key });
    expect([paid.status, paid.headers.get('x-credits-charged')]).toEqual([200, '1']);
    const unknown = await render('/playground/account/render', size, { ...address, 'x-api-key': 'sb_live_x' });
    expect((await problemOf(unknown)).code).toBe('invalid_api_key');
  });
});

describe('a visitor without a key', () => {
  const clip = (seconds: number, side = 64): Buffer =>
    readFileSync(
      plainClip(`${server.dataDirectory}/clip-${seconds}-${side}.mp4`, {
        width: side,
        height: 48,
        frames: seconds * 10,
        timeBase: { num: 1, den: 10 },
      }),
    );
  const renderClip = async (asset: Buffer, address: string): Promise<Response> =>
    await render('/playground/render', { asset, text: 'a' }, { 'x-forwarded-for': address });

  it('renders one watermarked clip per day; refused videos do not count, and all visitors share a limit', async () => {
    const address = newAddress();
    expect((await problemOf(await renderClip(clip(11), address))).code).toBe('asset_too_long');
    expect((await problemOf(await renderClip(clip(1, 2_000), address))).code).toBe('asset_dimensions_too_large');
    const bad = await render('/playground/render', { asset: clip(1), text: ' ' }, { 'x-forwarded-for': address });
    expect((await problemOf(bad)).code).toBe('invalid_fields');
    const first = await renderClip(clip(1), address);
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    const second = await renderClip(clip(1), address);
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(20 * 3_600);
    expect(await problemOf(second)).toMatchObject({
      code: 'rate_limited',
      detail: 'Without an API key, one video per day is free. Get an API key for more.',
    });
    expect((await renderClip(clip(1), newAddress())).status).toBe(200);
    const third = await problemOf(await renderClip(clip(1), newAddress()));
    expect(third.detail).toBe('The free videos of today are used up. Get an API key for more.');
  });

  it('previews the bars that a frame of a video shows, placed as in the whole video', async () => {
    const overlays = JSON.stringify([{ text: 'one', end: 1 }, { text: 'two', start: 1 }, { text: 'always' }]);
    const preview = async (at: number): Promise<{ rows: number[]; drawn: boolean[] }> => {
      const fields = { width: '400', height: '800', duration: '3', overlays };
      const response = await render(`/playground/overlay?at=${at}`, fields, { 'x-forwarded-for': newAddress() });
      const rows = (response.headers.get('x-bar-rows') ?? '').split(', ').map((row) => Number(row.split('+')[0]));
      const image = await decode(await response.arrayBuffer());
      // Two pixels are checked, because a stroke of the watermark may cross one of them where there is no bar.
      const isDrawn = (top: number): boolean => [2, 8].every((x) => (pixelAt(image, x, top + 2)[3] ?? 0) > 0);
      return { rows, drawn: rows.map(isDrawn) };
    };
    const early = await preview(500);
    expect(early.drawn).toEqual([true, false, true]);
    const late = await preview(1_000);
    expect(late.drawn).toEqual([false, true, true]);
    expect(late.rows).toEqual(early.rows);
  });

  it('previews subtitles, up to a number of cues that is quick to lay out', async () => {
    const cue = (second: number): string => `00:${String(second).padStart(2, '0')}.000 --> 00:59.900\nCue ${second}\n`;
    const preview = async (captions: string): Promise<Response> =>
      await render(
        '/playground/overlay?at=1500',
        { width: '400', height: '800', duration: '60', captions },
        { 'x-forwarded-for': newAddress() },
      );
    const response = await preview(`WEBVTT\n\n${[0, 1, 2].map(cue).join('\n')}`);
    expect(response.headers.get('x-bar-rows')?.split(', ')).toHaveLength(3);
    const many = Array.from({ length: 101 }, () => '00:00.000 --> 00:00.100\nx\n').map((text, index) =>
      text.replaceAll(
        '00:00',
        `${String(Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}`,
      ),
    );
    const refused = await problemOf(await preview(`WEBVTT\n\n${many.join('\n')}`));
    expect(refused.errors).toMatchObject([{ pointer: '#/captions', code: 'out_of_range' }]);
  });

  it('a visitor without a key learns the progress of a render by its id only while the request is running', async () => {
    const id = randomUUID();
    const statusOf = async (): Promise<number> => (await fetch(`${server.url}/playground/progress/${id}`)).status;
    expect(await statusOf()).toBe(204);
    const upload = request(`${server.url}/playground/render`, {
      method: 'POST',
      headers: {
        'content-type': 'multipart/form-data; boundary=b',
        'x-progress-id': id,
        'x-forwarded-for': newAddress(),
      },
    });
    upload.on('error', () => undefined);
    upload.write('--b\r\n');
    await until(async () => (await statusOf()) === 200);
    upload.destroy();
    await until(async () => (await statusOf()) === 204);
  });
});
