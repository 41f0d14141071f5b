import { describe, expect, it } from 'vitest';
import { parseAssetUrl } from '../../engine/caption/asset-url.ts';
import { isPublicAddress } from './addresses.ts';
import { FetchPolicy } from './fetch-policy.ts';

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('accepts %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:a00:1',
    '::ffff:169.254.169.254',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::7f00:1',
    '100::1',
    'fc00::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:0:7f00:1::',
    '2001:db8::1',
    '2002:7f00:1::1',
    '3fff::1',
    '5f00::1',
    'localhost',
    '',
  ])('refuses %j', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('FetchPolicy', () => {
  const codeOf = (text: string, policy = new FetchPolicy('public', [])): string | undefined => {
    const url = parseAssetUrl(text);
    return url instanceof URL ? policy.faultOf(url)?.code : url.code;
  };

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://0x7f.0.0.1:8080/',
    'http://１２７.0.0.1/',
    'http://127。0。0。1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'https://169.254.169.254/latest/meta-data/',
    'http://192.168.0.1:3000/',
  ])('refuses %s by its text alone', (text) => {
    expect(codeOf(text)).toBe('forbidden_address');
  });

  it.each([
    '',
    ' ',
    'photo.jpg',
    '//example.com/a.jpg',
    'ftp://example.com/a.jpg',
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'gopher://example.com/',
    'http://',
    'http://user:secret@example.com/a.jpg',
    'http://user@example.com/a.jpg',
    'http://example.com:22/',
    'http://example.com:25/',
    'http://example.com:1023/',
    'http://example.com:99999/',
    'http://[::1%25lo]/',
    `http://example.com/${'a'.repeat(2_048)}`,
  ])('reports %j as an invalid URL', (text) => {
    expect(codeOf(text)).toBe('invalid_url');
  });

  it.each(['http://example.com/a.jpg', 'https://example.com:8443/a', 'https://8.8.8.8/a', 'http://example.com:443/'])(
    'accepts %s',
    (text) => {
      expect(codeOf(text)).toBeUndefined();
    },
  );

  it('allows addresses, networks and hosts that the operator lists, and only those', () => {
    const policy = new FetchPolicy('public', ['10.1.0.0/16', '127.0.0.2', 'fd00::/8', 'Files.Internal']);
    expect(codeOf('http://10.1.2.3/', policy)).toBeUndefined();
    expect(codeOf('http://10.2.0.1/', policy)).toBe('forbidden_address');
    expect(codeOf('http://127.0.0.2/', policy)).toBeUndefined();
    expect(codeOf('http://[::ffff:127.0.0.2]/', policy)).toBeUndefined();
    expect(codeOf('http://127.0.0.1/', policy)).toBe('forbidden_address');
    expect(codeOf('http://[fd00::1]/', policy)).toBeUndefined();
    expect(policy.allows('files.internal.', '10.9.9.9')).toBe(true);
    expect(policy.allows('other.internal', '10.9.9.9')).toBe(false);
  });

  it('allows every address with `any` and none with `off`', () => {
    expect(codeOf('http://127.0.0.1/', new FetchPolicy('any', []))).toBeUndefined();
    expect(codeOf('https://8.8.8.8/', new FetchPolicy('off', []))).toBe('forbidden_address');
  });
});
