// Events of renders on other machines, for logs and metrics.

import type { AssetKind } from '../../../../engine/media/sniff.ts';

/** The render, and the session that one of its workers has. */
interface SessionEvent {
  readonly renderId: string | undefined;
  readonly kind: AssetKind;
  readonly session: string;
  readonly worker: string | undefined;
}

export type RemoteEvent =
  | ({ readonly type: 'claimed'; readonly waitedMs: number } & SessionEvent)
  | ({ readonly type: 'lost'; readonly reason: string } & SessionEvent)
  | {
      readonly type: 'incompatible';
      readonly worker: string;
      readonly theirProtocol: number | undefined;
      readonly theirVersion: string | undefined;
    }
  | { readonly type: 'issued' | 'connected' | 'disconnected' };
