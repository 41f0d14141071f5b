import fastify, { type LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { AppError } from '../../shared/errors.ts';
import { createKeyRoutes, type KeyRouteDependencies } from './key-routes.ts';
import { DELETED, describeOperations, json } from './operation.ts';

const SECRET = { 201: json('The secret.', 'WebhookSecret') };

const OPERATIONS = describeOperations(
  { tag: 'Webhooks', change: 'test keys' },
  {
    read: { route: 'GET /v1/secrets/{id}', summary: 'Read', success: SECRET },
    count: { route: 'POST /v1/secrets', summary: 'Count', rate: 'render', success: SECRET },
    remove: { route: 'DELETE /v1/secrets/{id}', summary: 'Remove', access: 'server key', success: DELETED },
    save: {
      route: 'PUT /v1/secrets/{id}',
      summary: 'Save',
      access: 'server key or marketplace',
      success: SECRET,
    },
  },
);

interface Sender {
  readonly keyId?: string;
  readonly mode?: 'live' | 'test';
  readonly allowedOrigins?: readonly string[];
}

/** Sends one request and returns the response, with the rates that it counted against. */
async function send(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  { keyId, mode = 'live', allowedOrigins = [] }: Sender = { keyId: 'k' },
): Promise<{ readonly response: LightMyRequestResponse; readonly counted: string[] }> {
  const counted: string[] = [];
  const keyRoutes = createKeyRoutes({
    authenticator: { authenticate: () => ({ accountId: 'a', keyId, mode }) },
    marketplace: { name: 'bazaar', isClaimed: () => false },
    admission: { countFreeRequest: () => counted.push('free'), countRequest: () => counted.push('render') },
    keys: { get: (id: string) => ({ id, allowedOrigins }) },
  } as unknown as KeyRouteDependencies);
  const app = fastify();
  app.setErrorHandler((error: AppError, _request, reply) => reply.send({ code: error.code, detail: error.message }));
  keyRoutes(OPERATIONS, {
    read: async ({ accountId, id }) => await Promise.resolve({ secret: `${accountId} ${id}` }),
    count: async () => await Promise.resolve({ secret: '' }),
    remove: async () => {
      await Promise.resolve();
    },
    save: async ({ actor }) => await Promise.resolve({ secret: actor }),
  }).register(app);
  const response = await app.inject({ method, url });
  await app.close();
  return { response, counted };
}

describe('routes of operations with a key', () => {
  it('responds with the status of the record and the body of the handler, which gets what the path names', async () => {
    const { response, counted } = await send('GET', '/v1/secrets/7');
    expect([response.statusCode, response.json(), counted]).toEqual([201, { secret: 'a 7' }, ['free']]);
  });

  it('responds with 204 when the handler returns nothing', async () => {
    const { response } = await send('DELETE', '/v1/secrets/7');
    expect([response.statusCode, response.body]).toEqual([204, '']);
  });

  it('counts an operation with the rate of renders against the plan, too', async () => {
    expect((await send('POST', '/v1/secrets')).counted).toEqual(['free', 'render']);
  });

  it.each<[string, Sender]>([
    ['a test key', { keyId: 'k', mode: 'test' }],
    ['a key with allowed origins', { keyId: 'k', allowedOrigins: ['https://page.example.com'] }],
    ['a marketplace', {}],
  ])('refuses %s where the record asks for a server key, and names the change', async (_name, sender) => {
    const { response } = await send('DELETE', '/v1/secrets/7', sender);
    const { code, detail } = response.json<{ code: string; detail: string }>();
    expect(code).toBe('server_key_required');
    expect(detail).toContain('to test keys.');
  });

  it('accepts a marketplace where the record allows it, and names it as the author', async () => {
    const { response } = await send('PUT', '/v1/secrets/7', {});
    expect(response.json()).toEqual({ secret: 'marketplace:bazaar' });
    expect((await send('PUT', '/v1/secrets/7')).response.json()).toEqual({ secret: 'key:k' });
    const test = await send('PUT', '/v1/secrets/7', { keyId: 'k', mode: 'test' });
    expect(test.response.json()).toMatchObject({ code: 'server_key_required' });
  });
});
