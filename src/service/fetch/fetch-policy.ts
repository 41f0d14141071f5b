// The rules for fetching files, sending webhooks and sending finished files. Callers choose the URLs, so without these rules
// they could reach services that only this machine or its network can reach.

import { type BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { UrlFault } from '../../engine/caption/asset-url.ts';
import { blockListOf, isInNetworks, isPublicAddress } from './addresses.ts';

type FetchMode = 'off' | 'public' | 'any';

/** What a URL is for. */
export type UrlPurpose = 'asset' | 'webhook' | 'put';

/** The hosts and addresses that the server may connect to. */
export interface AddressPolicy {
  /** Returns true for a host that the operator trusts, whatever its addresses. */
  isTrusted(host: string): boolean;
  allows(host: string, address: string): boolean;
}

const OFF = {
  put: "This server doesn't send files to other servers (STORYBAR_FETCH is off). Leave out put_url.",
  asset: "This server doesn't fetch files (STORYBAR_FETCH is off). Upload the file in asset instead.",
  webhook: "This server doesn't send webhooks (STORYBAR_FETCH is off).",
} as const;

export class FetchPolicy implements AddressPolicy {
  /** A request to `put_url` changes something at its receiver, so the addresses that it may use are a list of their own. */
  readonly put: AllowedHosts;
  readonly #mode: FetchMode;
  readonly #allowed: AllowedHosts;

  /**
   * `allow` lists host names, addresses and networks that are allowed in addition to public addresses. `putAllow` lists
   * those for `put_url`.
   */
  constructor(mode: FetchMode, allow: readonly string[], putAllow: readonly string[] = []) {
    this.#mode = mode;
    this.#allowed = new AllowedHosts(allow);
    this.put = new AllowedHosts(putAllow);
  }

  /**
   * Returns the fault of a URL as far as its text shows it. A host name is checked again when its addresses are known.
   */
  faultOf(url: URL, purpose: UrlPurpose = 'asset'): UrlFault | undefined {
    if (this.#mode === 'off') return { code: 'forbidden_address', detail: OFF[purpose] };
    const host = hostOf(url);
    if (purpose === 'put') {
      // The URL is a secret, and so may be the file.
      if (url.protocol !== 'https:' && !this.put.names(host)) {
        return { code: 'invalid_url', detail: 'put_url must start with https://.' };
      }
      return isIP(host) !== 0 && !this.put.allows(host, host) ? forbiddenAddress(host, purpose) : undefined;
    }
    return isIP(host) !== 0 && !this.allows(host, host) ? forbiddenAddress(host) : undefined;
  }

  isTrusted(host: string): boolean {
    return this.#mode === 'any' || this.#allowed.isTrusted(host);
  }

  allows(host: string, address: string): boolean {
    return this.isTrusted(host) || this.#allowed.allows(host, address);
  }
}

/** Public addresses, and the hosts and networks that the operator allows. */
class AllowedHosts implements AddressPolicy {
  readonly #networks: BlockList;
  readonly #hosts: ReadonlySet<string>;

  constructor(allow: readonly string[]) {
    const isNetwork = (item: string): boolean => isIP(item.split('/', 1)[0] ?? '') !== 0;
    this.#networks = blockListOf(allow.filter(isNetwork));
    this.#hosts = new Set(allow.filter((item) => !isNetwork(item)).map(nameOf));
  }

  /** Returns true for a host that is listed by its name or its address. */
  names(host: string): boolean {
    return this.isTrusted(host) || (isIP(host) !== 0 && isInNetworks(this.#networks, host));
  }

  isTrusted(host: string): boolean {
    return this.#hosts.has(nameOf(host));
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
export function forbiddenAddress(host: string, purpose: UrlPurpose = 'asset'): UrlFault {
  const setting = purpose === 'put' ? 'STORYBAR_PUT_ALLOW' : 'STORYBAR_FETCH_ALLOW';
  const detail = `The host ${host} has no public address. The operator can allow it with ${setting}.`;
  return { code: 'forbidden_address', detail };
}

/** Returns the host without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(?<address>.*)\]$/u, '$<address>');
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/\.$/u, '');
}
