import { isIPv6 } from 'node:net';

/**
 * Returns the unit that rate limits count: an IPv4 address, or the /64 network of an IPv6 address, which one client
 * controls.
 */
export function networkOf(address: string): string {
  return ipv4Of(address) ?? `${groupsOf(address).slice(0, 4).join(':')}::/64`;
}

/** Returns the network that one customer of a hosting or access provider can have: a /24 of IPv4, or a /48 of IPv6. */
export function wideNetworkOf(address: string): string {
  const ipv4 = ipv4Of(address);
  return ipv4 === undefined
    ? `${groupsOf(address).slice(0, 3).join(':')}::/48`
    : `${ipv4.split('.').slice(0, 3).join('.')}.0/24`;
}

/** Also handles an IPv4 address that is written as an IPv6 address. */
function ipv4Of(address: string): string | undefined {
  const mapped = /^::ffff:(?<v4>[\d.]+)$/iu.exec(address)?.groups?.['v4'];
  if (mapped !== undefined) return mapped;
  return isIPv6(address) ? undefined : address;
}

function groupsOf(address: string): string[] {
  const [head = '', tail = ''] = address.split('%', 1)[0]?.split('::') ?? [];
  const first = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last];
}
