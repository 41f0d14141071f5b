import { describe, expect, it } from 'vitest';
import { parseOrigin } from './web-origin.ts';

describe('parseOrigin', () => {
  it.each([
    ['https://shop.example', 'https://shop.example'],
    [' https://Shop.Example:443/ ', 'https://shop.example'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('reads %s as %s', (text, origin) => {
    expect(parseOrigin(text)).toBe(origin);
  });

  it.each([
    '',
    '*',
    'null',
    'shop.example',
    'https://',
    'https://*.shop.example',
    'https://shop.example/checkout',
    'https://user@shop.example',
    String.raw`https://shop.example\@evil.example`,
    'https://shop.example?x',
    'ftp://shop.example',
    'file:///etc',
  ])('rejects "%s"', (text) => {
    expect(parseOrigin(text)).toBeUndefined();
  });
});
