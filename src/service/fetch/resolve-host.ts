// Resolves a host name to IP addresses, once per request. The connection is made to these addresses, so a DNS response
// that changes afterwards has no effect.

import type { LookupAddress } from 'node:dns';
import { lookup as lookupSystem, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

const DNS_TIMEOUT_MS = 3_000;
const DNS_TRIES = 2;

export interface ResolveOptions {
  /** If true, uses the system's resolver, which also knows the names in its hosts file. */
  readonly isTrusted: boolean;
  /** DNS servers instead of the system's, for tests. */
  readonly dnsServers?: readonly string[] | undefined;
}

/**
 * The system never looks up names that callers choose, because its lookups can't be canceled and block a thread that
 * file operations need. Slow name servers could stall the whole server.
 */
export async function resolveHost(host: string, { isTrusted, dnsServers }: ResolveOptions): Promise<LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  if (isTrusted) return await lookupSystem(host, { all: true });
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (dnsServers) resolver.setServers(dnsServers);
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length === 0) throw v4.status === 'rejected' ? v4.reason : new Error('the host has no address');
  return addresses;
}

/** Returns a lookup for one connection that gives these addresses and sends no query. */
export function fixedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}
