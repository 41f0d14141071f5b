// The sessions of an API server. Each holds a permit until it is closed, and perhaps waits for an output. After a probe a
// session is kept for a moment, so that the render of the same asset finds the worker that already has it.

import type { Asset } from '../../../media/asset.ts';
import type { AssetKind } from '../../../media/sniff.ts';
import type { Permit } from './permits.ts';
import { RenderSession, type TicketIssuer } from './session.ts';

export interface ExpectedOutput {
  readonly file: string;
  readonly maxBytes: number;
}

interface SessionEntry {
  readonly session: RenderSession;
  readonly permit: Permit;
  output?: ExpectedOutput;
}

/** How long a session is kept after a probe. The render nearly always follows immediately. */
const KEEP_AFTER_PROBE_MS = 300;

export class SessionRegistry {
  readonly #entries = new Map<string, SessionEntry>();
  /** Sessions whose asset has been probed, by its path. */
  readonly #probed = new Map<string, RenderSession>();

  open(kind: AssetKind, asset: Asset | undefined, permit: Permit, issuer: TicketIssuer): RenderSession {
    const session = new RenderSession(kind, asset, issuer);
    this.#entries.set(session.id, { session, permit });
    return session;
  }

  find(id: string): RenderSession | undefined {
    return this.#entries.get(id)?.session;
  }

  all(): readonly RenderSession[] {
    return [...this.#entries.values()].map(({ session }) => session);
  }

  /** Sessions of a kind that wait for a worker. */
  waiting(kind: AssetKind): readonly RenderSession[] {
    return this.all().filter((session) => session.kind === kind && session.isWaiting);
  }

  expectOutput(session: RenderSession, output: ExpectedOutput): void {
    const entry = this.#entries.get(session.id);
    if (entry) entry.output = output;
  }

  outputOf({ id }: RenderSession): ExpectedOutput | undefined {
    return this.#entries.get(id)?.output;
  }

  close(session: RenderSession): void {
    session.close();
    this.#entries.get(session.id)?.permit();
    this.#entries.delete(session.id);
  }

  keepAfterProbe({ path }: Asset, session: RenderSession): void {
    const earlier = this.#probed.get(path);
    if (earlier) this.close(earlier);
    this.#probed.set(path, session);
    setTimeout(() => {
      if (this.#probed.get(path) !== session) return;
      this.#probed.delete(path);
      this.close(session);
    }, KEEP_AFTER_PROBE_MS);
  }

  /** The session whose worker has just probed this asset and is still connected. */
  takeProbed({ path }: Asset): RenderSession | undefined {
    const session = this.#probed.get(path);
    if (session === undefined) return undefined;
    this.#probed.delete(path);
    if (session.hasWorker) return session;
    this.close(session);
    return undefined;
  }
}
