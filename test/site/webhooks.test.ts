// The dashboard pages of webhooks: their content, their effects and their refusals.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../running-server.ts';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../webhook-receiver.ts';
import { type PageResponse, Visitor } from './visitor.ts';

const PATH = '/dashboard/webhooks';

let server: SharedServer;
let receiver: WebhookReceiver;
let visitors = 0;
beforeAll(async () => {
  server = await sharedServer();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver.stop();
});

const newMember = async (): Promise<Visitor> => {
  visitors += 1;
  const visitor = new Visitor(server.url, newAddress());
  await visitor.signUp(`webhooks-${visitors}@webhooks.example.com`);
  return visitor;
};

/** Returns the path of the endpoint's page. */
async function addEndpoint(visitor: Visitor, path: string, events: Record<string, string> = {}): Promise<string> {
  const { location } = await visitor.submit(PATH, { url: `${receiver.url}${path}`, ...events });
  return (location ?? '').replace(/\?.*$/u, '');
}

/** Returns the page of the only delivery of the endpoint, once an attempt has been made. */
async function deliveryOf(visitor: Visitor, page: string, text: string): Promise<{ path: string; page: PageResponse }> {
  return await until(async () => {
    const path = /href="(?<path>\/dashboard\/webhooks\/deliveries\/[\w-]+)"/u.exec((await visitor.get(page)).text);
    const found = path?.groups?.['path'];
    if (found === undefined) return undefined;
    const delivery = await visitor.get(found);
    return delivery.text.includes(text) ? { path: found, page: delivery } : undefined;
  });
}

it('the dashboard adds an endpoint, sends a test event, and shows the request and the response as text', async () => {
  const visitor = await newMember();
  receiver.respondWith(500);
  const page = await addEndpoint(visitor, '/switch', { 'render.failed': 'on' });
  const endpoint = await visitor.get(`${page}?done=webhook-created`);
  expect(endpoint.status).toBe(200);
  expect(endpoint.text).toContain(`${receiver.url}/switch`);
  expect(endpoint.text).toContain('render.failed');
  expect(endpoint.text).toMatch(/whsec_[A-Za-z0-9+/]{43}=/u);
  expect(endpoint.text).toContain('Endpoint added.');
  expect((await visitor.submit(page, {}, `${page}/test`)).location).toBe(`${page}?done=webhook-test`);
  const { path, page: failed } = await deliveryOf(visitor, page, 'Attempt at');
  expect(failed.text).toContain('&lt;b&gt;status 500&lt;/b&gt;');
  expect(failed.text).not.toContain('<b>status');
  expect(failed.text).toContain('webhook-signature: v1,');
  expect(failed.text).toContain('retrying');
  expect((await visitor.get(page)).text).toContain('failing');
  receiver.respondWith(200);
  expect((await visitor.submit(path, {}, `${path}/resend`)).location).toBe(`${path}?done=webhook-resent`);
  await deliveryOf(visitor, page, '<span class="state good">succeeded</span>');
  expect((await visitor.get(`${PATH}/deliveries`)).text).toContain(path);
});

it('rotates, disables, enables and deletes an endpoint', async () => {
  const visitor = await newMember();
  const page = await addEndpoint(visitor, '/ok');
  const secretOf = async (): Promise<string> =>
    /whsec_[A-Za-z0-9+/]{43}=/u.exec((await visitor.get(page)).text)?.[0] ?? '';
  const before = await secretOf();
  await visitor.submit(page, { overlap: 'day' }, `${page}/rotate`);
  expect(await secretOf()).not.toBe(before);
  expect((await visitor.get(page)).text).toContain('The previous secret is used too until');
  expect((await visitor.submit(page, { overlap: 'century' }, `${page}/rotate`)).status).toBe(400);
  await visitor.submit(page, {}, `${page}/disable`);
  expect((await visitor.get(page)).text).toContain('<span class="state bad">disabled</span>');
  expect((await visitor.submit(page, {}, `${page}/test`)).status).toBe(409);
  await visitor.submit(page, {}, `${page}/enable`);
  expect((await visitor.get(page)).text).toContain('<span class="state good">enabled</span>');
  expect((await visitor.submit(page, {}, `${page}/delete`)).location).toBe(`${PATH}?done=webhook-deleted`);
  expect((await visitor.get(page)).status).toBe(404);
});

it('the dashboard shows and rotates the secret for webhook_url', async () => {
  const visitor = await newMember();
  const secretOf = async (): Promise<string> =>
    /whsec_[A-Za-z0-9+/]{43}=/u.exec((await visitor.get(PATH)).text)?.[0] ?? '';
  const before = await secretOf();
  expect(await secretOf()).toBe(before);
  await visitor.submit(PATH, { overlap: 'none' }, `${PATH}/secret/rotate`);
  expect(await secretOf()).not.toBe(before);
});

it('the dashboard keeps what was typed when the URL is refused', async () => {
  const visitor = await newMember();
  const typed = { url: 'http://10.0.0.1/"><script>', 'render.failed': 'on' };
  const refused = await visitor.submit(PATH, typed);
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('10.0.0.1/&quot;&gt;&lt;script&gt;');
  expect(refused.text).toContain('has no public address');
  expect(refused.text).toMatch(/name="render.failed" checked/u);
});

it('changes the URL and the events of an endpoint, and keeps its secret', async () => {
  const visitor = await newMember();
  const page = await addEndpoint(visitor, '/old', { 'render.failed': 'on' });
  const secret = /whsec_[A-Za-z0-9+/]{43}=/u.exec((await visitor.get(page)).text)?.[0];
  const saved = await visitor.submit(page, { url: `${receiver.url}/ok`, 'batch.completed': 'on' });
  expect(saved.location).toBe(`${page}?done=webhook-changed`);
  const { text } = await visitor.get(page);
  expect(text).toContain(`${receiver.url}/ok`);
  expect(text).not.toContain(`${receiver.url}/old`);
  expect(text).toMatch(/name="batch.completed" checked/u);
  expect(text).not.toMatch(/name="render.failed" checked/u);
  expect(text).toContain(secret);
  await visitor.submit(page, {}, `${page}/test`);
  await deliveryOf(visitor, page, '<span class="state good">succeeded</span>');
});

it('explains a wrong URL in the words of the page, beside the field and with what was typed', async () => {
  const visitor = await newMember();
  const page = await addEndpoint(visitor, '/ok');
  for (const path of [PATH, page]) {
    const refused = await visitor.submit(path, { url: 'ftp://files.example/', 'render.failed': 'on' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('The URL must start with http:// or https://; got ftp:');
    expect(refused.text).toContain('value="ftp://files.example/"');
    expect(refused.text).toMatch(/name="render.failed" checked/u);
  }
  expect((await visitor.get(page)).text).toContain(`<code>${receiver.url}/ok</code>`);
});

it('filters deliveries by endpoint, event and status, and sends the failed ones again together', async () => {
  const [visitor, other] = [await newMember(), await newMember()];
  const [gone, fine] = [await addEndpoint(visitor, '/410'), await addEndpoint(visitor, '/ok')];
  for (const page of [gone, fine]) await visitor.submit(page, {}, `${page}/test`);
  const failed = await deliveryOf(visitor, gone, '<span class="state bad">failed</span>');
  const good = await deliveryOf(visitor, fine, '<span class="state good">succeeded</span>');
  const shown = async (query: string): Promise<boolean[]> => {
    const { text } = await visitor.get(`${PATH}/deliveries${query}`);
    return [failed.path, good.path].map((path) => text.includes(`href="${path}"`));
  };
  expect(await shown('')).toEqual([true, true]);
  expect(await shown('?status=failed')).toEqual([true, false]);
  expect(await shown('?status=succeeded')).toEqual([false, true]);
  expect(await shown('?status=pending')).toEqual([false, false]);
  expect(await shown(`?endpoint=${fine.split('/').at(-1) ?? ''}`)).toEqual([false, true]);
  expect(await shown('?event=webhook.test')).toEqual([true, true]);
  expect(await shown('?event=render.failed')).toEqual([false, false]);
  const list = `${PATH}/deliveries?status=failed`;
  const page = await visitor.get(list);
  expect(page.text).toMatch(/<option value="failed" selected>/u);
  expect(page.text).toContain('Send failed webhooks again');
  expect((await visitor.get(`${PATH}/deliveries?status=succeeded`)).text).not.toContain('Send failed webhooks again');
  // The receiver responded with 410, so its endpoint is disabled.
  const again = async (from: Visitor) =>
    await from.submit(list, { status: 'failed', event: 'webhook.test' }, `${PATH}/deliveries/resend`);
  expect((await again(other)).location).toContain('done=webhooks-not-resent');
  await visitor.submit(gone, { url: `${receiver.url}/ok` });
  await visitor.submit(gone, {}, `${gone}/enable`);
  expect((await again(visitor)).location).toBe(`${PATH}/deliveries?event=webhook.test&done=webhooks-resent`);
  await deliveryOf(visitor, gone, '<span class="state good">succeeded</span>');
  expect((await again(visitor)).status).toBe(429);
});

it('the dashboard hides the endpoints and deliveries of other accounts', async () => {
  const [owner, other] = [await newMember(), await newMember()];
  const page = await addEndpoint(owner, '/ok');
  await owner.submit(page, {}, `${page}/test`);
  const { path } = await deliveryOf(owner, page, 'Attempt at');
  expect((await other.get(page)).status).toBe(404);
  expect((await other.get(path)).status).toBe(404);
  expect((await other.get(`${PATH}/deliveries`)).text).toContain('No deliveries yet.');
  for (const [action, fields] of [
    [page, { url: `${receiver.url}/mine` }],
    [`${page}/test`, {}],
    [`${page}/disable`, {}],
    [`${page}/delete`, {}],
    [`${page}/rotate`, { overlap: 'day' }],
    [`${path}/resend`, {}],
  ] as const) {
    expect((await other.submit(PATH, fields, action)).status).toBe(404);
  }
  expect((await owner.get(page)).text).toContain('<span class="state good">enabled</span>');
});
