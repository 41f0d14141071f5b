// Users without a confirmed address can't make the server send requests to other servers.

import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { form, post, problemOf, type RunningServer, startServer } from '../running-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../webhook-receiver.ts';
import { SmtpServer } from './smtp-server.ts';
import { Visitor } from './visitor.ts';

const CONFIRM_FIRST = 'Confirm your email address to receive webhooks.';
const PATH = '/dashboard/webhooks';
const EMAIL = 'early@example.com';

let smtp: SmtpServer;
let server: RunningServer;
let receiver: WebhookReceiver;
let visitor: Visitor;
let key: string;
beforeAll(async () => {
  smtp = await SmtpServer.start();
  receiver = await startWebhookReceiver();
  server = await startServer({
    STORYBAR_FETCH_ALLOW: '127.0.0.1',
    STORYBAR_SMTP_URL: smtp.url,
    STORYBAR_MAIL_FROM: 'Storybar <captions@example.com>',
    STORYBAR_PUBLIC_URL: 'http://127.0.0.1',
  });
  visitor = new Visitor(server.url);
  await visitor.signUp(EMAIL);
  key = /sb_test_\w{33}/u.exec((await visitor.get('/dashboard/start')).text)?.[0] ?? '';
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
  await smtp.stop();
});

const fieldsOf = (more: Record<string, string> = {}): Record<string, string> => ({
  width: '32',
  height: '32',
  text: 'a',
  webhook_url: `${receiver.url}/request`,
  ...more,
});

it.each([{ async: 'true' }, { deliver: 'url' }])(
  'the server refuses webhook_url with %j and a test key',
  async (delivery) => {
    const response = await post({ url: server.url, key }, form(fieldsOf(delivery)));
    expect(response.status).toBe(400);
    expect((await problemOf(response)).errors).toEqual([
      { pointer: '#/webhook_url', code: 'forbidden_address', detail: CONFIRM_FIRST },
    ]);
  },
);

it('the server refuses webhook_url in a batch, with the other faults of the batch', async () => {
  const item = { text: 'a', width: 32, height: 32 };
  const response = await fetch(`${server.url}/v1/batches`, {
    method: 'POST',
    body: JSON.stringify({ requests: [item, { ...item, webhook_url: `${receiver.url}/batch` }, { text: 'a' }] }),
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  });
  expect(response.status).toBe(400);
  const { errors } = await problemOf(response);
  expect(errors).toContainEqual({
    pointer: '#/requests/1/webhook_url',
    code: 'forbidden_address',
    detail: CONFIRM_FIRST,
  });
  expect(errors?.some(({ pointer }) => pointer.startsWith('#/requests/2'))).toBe(true);
});

it('the playground refuses webhook_url', async () => {
  const response = await fetch(`${server.url}/playground/account/render`, {
    method: 'POST',
    body: form(fieldsOf({ async: 'true' })),
    headers: {
      cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'x-form-token': await visitor.tokenOf('/dashboard/security'),
      'sec-fetch-site': 'same-origin',
      origin: new URL(server.url).origin,
    },
  });
  expect((await problemOf(response)).errors).toMatchObject([{ pointer: '#/webhook_url', detail: CONFIRM_FIRST }]);
});

it('the server refuses every form that sends a webhook or prepares one', async () => {
  const actions = ['secret/rotate', 'x/test', 'x/enable', 'x/rotate', 'deliveries/x/resend'];
  const responses = await Promise.all(
    actions.map(async (action) => await visitor.submit(PATH, { overlap: 'none' }, `${PATH}/${action}`)),
  );
  expect(responses.map(({ status, text }) => [status, text.includes(CONFIRM_FIRST)])).toEqual(
    actions.map(() => [400, true]),
  );
});

it('the server accepts webhook_url with the same test key once the address is confirmed', async () => {
  const database = new SqliteEngine(path.join(server.dataDirectory, 'storybar.db'));
  await database.run('update users set email = unconfirmed_email, unconfirmed_email = null', {});
  await database.close();
  const response = await post({ url: server.url, key }, form(fieldsOf({ async: 'true' })));
  expect(response.status).toBe(202);
});
