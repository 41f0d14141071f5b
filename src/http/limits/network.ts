import { isIPv6 } from 'node:net';

/** The unit that rate limits count: an IPv4 address, or the /64 network of an IPv6 address, which one client controls. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(?<v4>[\d.]+)$/iu.exec(address)?.groups?.['v4'];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('%', 1)[0]?.split('::') ?? [];
  const first = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
