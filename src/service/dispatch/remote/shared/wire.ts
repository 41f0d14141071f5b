// The wire format between API servers and workers on other machines: subjects and tickets on NATS, paths and headers of
// the API server's internal listener. A ticket only announces work and its location. The worker then opens a control
// stream to the API server, which sends it steps (control-messages.ts) and closes the stream when the work is no longer
// needed.

import { z } from 'zod';
import type { AssetKind } from '../../../../engine/media/sniff.ts';
import { versionFields } from './protocol.ts';

export const STREAM = 'STORYBAR_TICKETS';
export const CONSUMERS = { image: 'images', video: 'videos' } as const satisfies Record<AssetKind, string>;
export const PRESENCE_SUBJECTS = 'storybar.workers.*';

const MAX_GENERATION = 999_999_999;

export function ticketSubject(kind: AssetKind): string {
  return `storybar.tickets.${kind}`;
}

export function presenceSubject(worker: string): string {
  return `storybar.workers.${worker}`;
}

/** The SHA-256 of a body, sent after it, so that neither side has to read a file twice. */
export const HASH_TRAILER = 'storybar-sha256';
/** The facts of a render, JSON in base64url, sent with its output. */
export const FACTS_HEADER = 'storybar-facts';
/** Set when NATS reports that another worker may have had this ticket before. */
export const REDELIVERED_HEADER = 'storybar-redelivered';
/** The worker's name, as in its presence. */
export const WORKER_HEADER = 'storybar-worker';

export const ATTEMPT_PARTS = ['asset', 'attachment', 'files', 'probe', 'progress', 'output', 'failure'] as const;
export type AttemptPart = (typeof ATTEMPT_PARTS)[number];

export function controlStreamPath({ session, generation }: Ticket): string {
  return `/sessions/${session}/tickets/${generation}`;
}

/** `sha256` names one of the files. */
export function attemptPath(session: string, attempt: number, part: AttemptPart, sha256?: string): string {
  const path = `/sessions/${session}/attempts/${attempt}/${part}`;
  return sha256 === undefined ? path : `${path}/${sha256}`;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u;

const ticketSchema = z.object({
  /** The address of the API server's internal listener. */
  apiServer: z.url({ protocol: /^https?$/u }).max(500),
  session: z.string().regex(UUID),
  /** The id under which API server and worker log the render. */
  renderId: z.string().regex(UUID).exactOptional(),
  /** Increases with every new ticket of a session. Tickets of older generations are rejected. */
  generation: z.int().min(1).max(MAX_GENERATION),
  token: z.string().regex(/^\S{1,200}$/u),
  /** When the client stops waiting, in milliseconds since 1970. */
  expires: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  ...versionFields,
});

export type Ticket = z.infer<typeof ticketSchema>;

/** Returns `undefined` for anything that isn't a ticket. */
export function parseTicket(bytes: Uint8Array): Ticket | undefined {
  try {
    return ticketSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  } catch {
    return undefined;
  }
}
