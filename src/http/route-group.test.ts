import { expect, it } from 'vitest';
import { createRouteTable } from './route-group.ts';

const table = createRouteTable([
  { paths: { '/docs/:guide': 'GET, HEAD', '/openapi.json': 'GET, HEAD' }, register: () => undefined },
  { paths: { '/docs/plain': 'POST' }, register: () => undefined },
]);

it('knows plain paths and paths with a name in them', () => {
  expect(table('/openapi.json')).toBe('GET, HEAD');
  expect(table('/docs/errors')).toBe('GET, HEAD');
  expect(table('/docs/plain')).toBe('POST');
});

it('knows no others', () => {
  const strangers = ['/', '/docs', '/docs/', '/docs/a/b', '/openapiXjson', '/constructor', '__proto__', '/x/docs/a'];
  expect(strangers.filter((path) => table(path) !== undefined)).toEqual([]);
});
