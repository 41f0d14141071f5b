import fastify from 'fastify';
import { expect, it } from 'vitest';
import { RouteTable } from './route-table.ts';

function createTable(): RouteTable {
  const app = fastify();
  const table = new RouteTable(app);
  app.get('/docs/:guide', async () => '');
  app.get('/openapi.json', async () => '');
  app.post('/docs/literal', async () => '');
  app.get('/files/:version/*', async () => '');
  app.get('/keys/:id', async () => '');
  app.post('/keys/:id', async () => '');
  app.route({ method: ['PUT', 'DELETE'], url: '/several', handler: async () => '' });
  return table;
}

const table = createTable();

it.each([
  ['/openapi.json', ['GET', 'HEAD']],
  ['/docs/errors', ['GET', 'HEAD']],
  ['/docs/literal', ['POST']],
  ['/files/1/a.css', ['GET', 'HEAD']],
  ['/files/1/a/b/c.js', ['GET', 'HEAD']],
  ['/keys/42', ['GET', 'HEAD', 'POST']],
  ['/several', ['PUT', 'DELETE']],
])('lists the methods registered for %s, including the HEAD route that Fastify adds', (path, methods) => {
  expect([...(table.methodsOf(path) ?? [])]).toEqual(methods);
});

it.each([
  '/',
  '/files/1',
  '/files/1/',
  '/docs',
  '/docs/',
  '/docs/a/b',
  '/openapiXjson',
  '/constructor',
  '__proto__',
  '/x/docs/a',
])('reports %s as unknown', (path) => {
  expect(table.methodsOf(path)).toBeUndefined();
});
