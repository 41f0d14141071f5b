import { describe, expect, it, vi } from 'vitest';
import { lastTextCache, servedOpenApi } from './served-openapi.ts';

const HOST = 'http://captions.example.com';
const serversIn = (text: string): unknown => (JSON.parse(text) as Record<string, unknown>)['servers'];

describe('the served OpenAPI document', () => {
  it('names the public URL as its server', () => {
    const text = servedOpenApi('1.0.0', 'https://captions.example.com', 'https://captions.example.com');
    expect(serversIn(text)).toEqual([{ url: 'https://captions.example.com' }]);
  });

  it('names a relative server without a public URL, and uses the requested host in code samples only', () => {
    const text = servedOpenApi('1.0.0', '', HOST);
    expect(serversIn(text)).toEqual([{ url: '/' }]);
    expect(text).toContain(`"source": "curl ${HOST}/v1/overlay`);
  });
});

describe('the cache of the last text', () => {
  it('the cache of the last text builds a text again only when the base URL changes', () => {
    const build = vi.fn<(baseUrl: string) => string>((baseUrl) => `for ${baseUrl}`);
    const textFor = lastTextCache(build);
    expect(['a', 'a', 'b', 'b', 'a'].map(textFor)).toEqual(['for a', 'for a', 'for b', 'for b', 'for a']);
    expect(build).toHaveBeenCalledTimes(3);
  });
});
