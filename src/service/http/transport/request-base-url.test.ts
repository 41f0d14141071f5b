import { expect, it } from 'vitest';
import { requestBaseUrl } from './request-base-url.ts';

const baseUrl = (host: string | undefined): string | undefined =>
  requestBaseUrl({ protocol: 'https', headers: host === undefined ? {} : { host } });

it.each(['captions.example.com', 'localhost:8080', '127.0.0.1', '[::1]:8080'])('repeats the host %s', (host) => {
  expect(baseUrl(host)).toBe(`https://${host}`);
});

it.each([undefined, '', 'x:99999', '999.1.1.1', 'a b', 'a/b', '<b>', 'user@host', '[::1'])(
  'ignores the host %s',
  (host) => {
    expect(baseUrl(host)).toBeUndefined();
  },
);
