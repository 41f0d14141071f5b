// Classifies IP addresses as public or not. An address that isn't public could be a service inside the operator's
// network.

import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Special-purpose networks (IANA registry), and the metadata service of a cloud that has a public address. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const GLOBAL_V6 = ['2000::/3'];
/** Networks inside the global range: protocol assignments (Teredo among them), documentation, 6to4. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const notPublicV4 = blockListOf(NOT_PUBLIC_V4);
const globalV6 = blockListOf(GLOBAL_V6);
const notPublicV6 = blockListOf(NOT_PUBLIC_V6);

/** Returns true for an address that anyone on the internet can reach, and false for text that isn't an address. */
export function isPublicAddress(address: string): boolean {
  const v4 = isIPv4(address) ? address : embeddedIPv4(address);
  if (v4 !== undefined) return !notPublicV4.check(v4, 'ipv4');
  return isIPv6(address) && globalV6.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6');
}

/** Returns true if the address, or the IPv4 address inside it, is in one of the networks. */
export function isInNetworks(networks: BlockList, address: string): boolean {
  const v4 = isIPv4(address) ? address : embeddedIPv4(address);
  if (v4 !== undefined && networks.check(v4, 'ipv4')) return true;
  return isIPv6(address) && networks.check(address, 'ipv6');
}

/** Creates a list from addresses and networks such as 10.0.0.0/8. */
export function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return list;
}

/** Returns the IPv4 address of an IPv4-mapped (::ffff:0:0/96) or NAT64 (64:ff9b::/96) address. */
function embeddedIPv4(address: string): string | undefined {
  if (!isIPv6(address) || address.includes('%')) return undefined;
  const groups = groupsOf(address);
  const prefix = groups.slice(0, 6).join(':');
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return undefined;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** Returns the eight groups of an IPv6 address, in hexadecimal without leading zeros. */
function groupsOf(address: string): string[] {
  // The URL parser normalizes every form of an address.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const first = head === '' ? [] : head.split(':');
  if (tail === undefined) return first;
  const last = tail === '' ? [] : tail.split(':');
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last];
}
