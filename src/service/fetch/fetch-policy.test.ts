import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { forbiddenAddress, FetchPolicy, hostOf } from './fetch-policy.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const PUBLIC = '8.8.8.8';

function codeFor(policy: FetchPolicy, url: string, purpose?: 'asset' | 'webhook' | 'put'): string | undefined {
  return policy.faultOf(new URL(url), purpose)?.code;
}

describe('the policy for host names', () => {
  it('a host name passes by its text, and is checked when its addresses are known', () => {
    const policy = new FetchPolicy('public', []);
    expect(codeFor(policy, 'http://internal.example/')).toBeUndefined();
    expect(policy.allows('internal.example', PUBLIC)).toBe(true);
    expect(policy.allows('internal.example', '10.0.0.1')).toBe(false);
    expect(policy.allows('internal.example', 'fe80::1%eth0')).toBe(false);
  });

  it('only hosts that the operator names are trusted, whatever their addresses', () => {
    const policy = new FetchPolicy('public', ['Files.Internal.', '10.0.0.0/8']);
    expect(policy.isTrusted('FILES.internal')).toBe(true);
    expect(policy.isTrusted('more.files.internal')).toBe(false);
    // A network says which addresses are allowed, and nothing about names.
    expect(policy.isTrusted('10.0.0.0/8')).toBe(false);
    expect(policy.isTrusted('10.0.0.1')).toBe(false);
    expect(policy.allows('files.internal', '192.168.0.1')).toBe(true);
    expect(policy.allows('elsewhere.example', '10.0.0.1')).toBe(true);
    expect(policy.allows('elsewhere.example', '192.168.0.1')).toBe(false);
  });

  it('every host is trusted with `any`', () => {
    const policy = new FetchPolicy('any', []);
    expect(policy.isTrusted('internal.example')).toBe(true);
    expect(policy.allows('internal.example', '10.0.0.1')).toBe(true);
    expect(new FetchPolicy('public', []).isTrusted('internal.example')).toBe(false);
  });

  it("the server's own public addresses are refused, also inside IPv6 addresses", () => {
    const own = { netmask: '', family: 'IPv4', mac: '', internal: false, cidr: null } as const;
    vi.spyOn(os, 'networkInterfaces').mockReturnValue({ eth0: [{ ...own, address: PUBLIC }], eth1: undefined });
    syncBuiltinESMExports();
    const policy = new FetchPolicy('public', []);
    expect(policy.allows('a.example', PUBLIC)).toBe(false);
    expect(policy.allows('a.example', `::ffff:${PUBLIC}`)).toBe(false);
    expect(policy.allows('a.example', '8.8.4.4')).toBe(true);
    expect(new FetchPolicy('public', [PUBLIC]).allows('a.example', PUBLIC)).toBe(true);
  });
});

describe('the policy for networks of the operator', () => {
  it.each([
    ['10.1.0.0/16', '10.1.255.255', '10.2.0.0'],
    ['10.1.0.1', '10.1.0.1', '10.1.0.2'],
    ['10.1.0.1', '::ffff:10.1.0.1', '::ffff:10.1.0.2'],
    ['10.1.0.1', '64:ff9b::10.1.0.1', '64:ff9b::10.1.0.2'],
    ['fd00::1', 'fd00::1', 'fd00::2'],
    ['fd00::1', 'fd00:0:0:0:0:0:0:1', 'fd00::1:0:0:1'],
    ['fd00::/16', 'fd00:ffff::1', 'fd01::1'],
    ['::ffff:10.1.0.1', '::ffff:10.1.0.1', '::ffff:10.1.0.2'],
  ])('%s allows %s and not %s', (network, inside, outside) => {
    const policy = new FetchPolicy('public', [network]);
    expect(policy.allows('a.example', inside)).toBe(true);
    expect(policy.allows('a.example', outside)).toBe(false);
  });
});

describe('the policy for put_url', () => {
  it('put_url must be https, unless the operator names its host or address', () => {
    const policy = new FetchPolicy('public', [], ['files.internal', '10.0.0.0/8']);
    expect(codeFor(policy, 'https://bucket.example/a', 'put')).toBeUndefined();
    expect(codeFor(policy, 'http://bucket.example/a', 'put')).toBe('invalid_url');
    expect(codeFor(policy, `http://${PUBLIC}/a`, 'put')).toBe('invalid_url');
    expect(codeFor(policy, 'http://files.internal/a', 'put')).toBeUndefined();
    expect(codeFor(policy, 'http://10.0.0.1/a', 'put')).toBeUndefined();
  });

  it('put_url has a list of its own', () => {
    const policy = new FetchPolicy('public', ['10.0.0.0/8', 'files.internal'], ['192.168.0.0/16']);
    expect(codeFor(policy, 'https://10.0.0.1/a', 'put')).toBe('forbidden_address');
    expect(codeFor(policy, 'https://192.168.0.1/a', 'put')).toBeUndefined();
    expect(codeFor(policy, 'https://192.168.0.1/a')).toBe('forbidden_address');
    expect(codeFor(policy, 'https://10.0.0.1/a')).toBeUndefined();
    expect(policy.put.allows('files.internal', '10.0.0.1')).toBe(false);
    expect(policy.put.allows('files.internal', PUBLIC)).toBe(true);
  });

  it('put_url reaches only public addresses without a list, even with `any`', () => {
    const policy = new FetchPolicy('any', []);
    expect(codeFor(policy, 'https://10.0.0.1/a', 'put')).toBe('forbidden_address');
    expect(codeFor(policy, `https://${PUBLIC}/a`, 'put')).toBeUndefined();
  });
});

describe('the faults of a policy', () => {
  it('the fault names the setting that would allow the address', () => {
    expect(forbiddenAddress('a.example').detail).toMatch(/a\.example .* STORYBAR_FETCH_ALLOW\.$/u);
    expect(forbiddenAddress('a.example', 'webhook').detail).toContain('STORYBAR_FETCH_ALLOW');
    expect(forbiddenAddress('a.example', 'put').detail).toContain('STORYBAR_PUT_ALLOW');
  });

  it.each(['asset', 'webhook', 'put'] as const)('nothing is sent with `off` (%s)', (purpose) => {
    const fault = new FetchPolicy('off', [], ['a.example']).faultOf(new URL('https://a.example/'), purpose);
    expect(fault).toMatchObject({ code: 'forbidden_address', detail: expect.stringContaining('STORYBAR_FETCH') });
  });

  it('the host of an IPv6 address has no brackets', () => {
    expect(hostOf(new URL('http://[fd00::1]:8080/'))).toBe('fd00::1');
    expect(hostOf(new URL('http://a.example/'))).toBe('a.example');
  });
});
