// The rules for fetching files and sending webhooks. Callers choose the URLs, so without these rules they could reach
// services that only this machine or its network can reach.

import { type BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { UrlFault } from '../caption/asset-url.ts';
import { blockListOf, isInNetworks, isPublicAddress } from './addresses.ts';

type FetchMode = 'off' | 'public' | 'any';

const OFF = {
  asset: "This server doesn't fetch files (STORYBAR_FETCH is off). Upload the file in asset instead.",
  webhook: "This server doesn't send webhooks (STORYBAR_FETCH is off).",
} as const;

export class FetchPolicy {
  readonly #mode: FetchMode;
  readonly #networks: BlockList;
  readonly #hosts: ReadonlySet<string>;

  /** `allow` lists host names, addresses and networks that are allowed in addition to public addresses. */
  constructor(mode: FetchMode, allow: readonly string[]) {
    const isNetwork = (item: string): boolean => isIP(item.split('/', 1)[0] ?? '') !== 0;
    this.#mode = mode;
    this.#networks = blockListOf(allow.filter(isNetwork));
    this.#hosts = new Set(allow.filter((item) => !isNetwork(item)).map(nameOf));
  }

  /**
   * Returns the fault of a URL as far as its text shows it. A host name is checked again when its addresses are known.
   */
  faultOf(url: URL, purpose: 'asset' | 'webhook' = 'asset'): UrlFault | undefined {
    if (this.#mode === 'off') return { code: 'forbidden_address', detail: OFF[purpose] };
    const host = hostOf(url);
    return isIP(host) !== 0 && !this.allows(host, host) ? forbiddenAddress(host) : undefined;
  }

  /** Returns true for a host that the operator trusts, whatever its addresses. */
  isTrusted(host: string): boolean {
    return this.#mode === 'any' || this.#hosts.has(nameOf(host));
  }

  allows(host: string, address: string): boolean {
    if (this.isTrusted(host) || isInNetworks(this.#networks, address)) return true;
    return isPublicAddress(address) && !isOwnAddress(address);
  }
}

/** Connecting to itself would get the server behind its own firewall, even through a public address. */
function isOwnAddress(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return isInNetworks(blockListOf(own.map(({ address: each }) => each)), address);
}

/** Doesn't name the address of a host name, because that could reveal details of an internal network to callers. */
export function forbiddenAddress(host: string): UrlFault {
  const detail = `The host ${host} has no public address. The operator can allow it with STORYBAR_FETCH_ALLOW.`;
  return { code: 'forbidden_address', detail };
}

/** Returns the host without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(?<address>.*)\]$/u, '$<address>');
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/\.$/u, '');
}
