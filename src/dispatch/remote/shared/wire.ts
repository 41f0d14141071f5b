// What a front and a worker elsewhere say to each other. A ticket on the queue only tells that there is work and where;
// the worker then opens one conversation with the front, which hands it steps line by line and ends when nobody needs the
// work any more. So a ticket is always small, and either side notices at once when the other is gone.

import type { ErrorCode } from '../../../errors.ts';
import type { AssetFormat, AssetKind } from '../../../media/sniff.ts';
import type { AssetLimits, Recipe } from '../../../render/compose.ts';

export interface Ticket {
  /** Where the front's internal listener is reached. */
  readonly front: string;
  readonly session: string;
  /** Rises when the front hands the same work out anew; a ticket of an older one is refused. */
  readonly generation: number;
  readonly token: string;
  /** Then nobody waits any more; milliseconds since 1970. */
  readonly expires: number;
}

export interface OfferedAsset {
  readonly format: AssetFormat;
  readonly bytes: number;
}

export type Step =
  | { readonly type: 'probe'; readonly asset: OfferedAsset; readonly limits: AssetLimits }
  | {
      readonly type: 'render';
      readonly asset: OfferedAsset | undefined;
      readonly recipe: Recipe;
      /** For the recipe that joins them: all segments together. */
      readonly segments?: { readonly bytes: number };
    };

/** One line of a conversation, front to worker. An empty line only says that the front is there. */
export type ControlMessage =
  | { readonly type: 'step'; readonly attempt: number; readonly token: string; readonly step: Step }
  | { readonly type: 'end' };

/** Why a worker has no result. `again`: the trouble is the worker's own, another may do better. */
export interface RemoteFailure {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly limit?: { readonly limit: number; readonly actual: number };
  readonly again: boolean;
}

/** What a worker tells everybody, every second. */
export interface Presence {
  readonly worker: string;
  readonly slots: Readonly<Record<AssetKind, number>>;
  /** Slots whose process is warm. */
  readonly ready: Readonly<Record<AssetKind, number>>;
  readonly busy: Readonly<Record<AssetKind, number>>;
  readonly isDraining: boolean;
  readonly codecs?: { readonly ffmpeg: string; readonly available: Readonly<Record<string, boolean>> } | undefined;
}

export const STREAM = 'STORYBAR_TICKETS';
export const CONSUMERS = { image: 'images', video: 'videos' } as const satisfies Record<AssetKind, string>;
export const PRESENCE_SUBJECTS = 'storybar.workers.*';

export function ticketSubject(kind: AssetKind): string {
  return `storybar.tickets.${kind}`;
}

export function presenceSubject(worker: string): string {
  return `storybar.workers.${worker}`;
}

/** SHA-256 of a body, sent after it: neither side has to read a file twice. */
export const HASH_TRAILER = 'storybar-sha256';
/** The facts of a render, JSON in base64url, beside its bytes. */
export const FACTS_HEADER = 'storybar-facts';
/** The broker says that somebody may have had this ticket before. */
export const REDELIVERED_HEADER = 'storybar-redelivered';
/** The worker's name, as in its presence. */
export const WORKER_HEADER = 'storybar-worker';

export function controlStreamPath({ session, generation }: Ticket): string {
  return `/sessions/${session}/tickets/${generation}`;
}

export type AttemptPart = 'asset' | 'segments' | 'probe' | 'output' | 'failure';

export function attemptPath(session: string, attempt: number, part: AttemptPart): string {
  return `/sessions/${session}/attempts/${attempt}/${part}`;
}

const SESSION = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u;

/** `undefined` for anything that is no ticket of ours. */
export function parseTicket(bytes: Uint8Array): Ticket | undefined {
  let value: Partial<Record<keyof Ticket, unknown>> | null;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes)) as typeof value;
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { front, session, generation, token, expires } = value;
  if (typeof front !== 'string' || !/^https?:\/\//u.test(front) || !URL.canParse(front)) return undefined;
  if (typeof session !== 'string' || !SESSION.test(session)) return undefined;
  if (typeof token !== 'string' || typeof expires !== 'number' || !Number.isSafeInteger(generation)) return undefined;
  return { front, session, generation: Number(generation), token, expires };
}
