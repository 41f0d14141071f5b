// The sessions of an API server. Each holds a permit until it is closed, and may wait for an output.

import type { Asset } from '../../../../engine/media/asset.ts';
import type { AssetKind } from '../../../../engine/media/sniff.ts';
import type { PermitPlace } from './permits.ts';
import { RenderSession, type TicketIssuer } from './session.ts';

export interface ExpectedOutput {
  readonly file: string;
  readonly maxBytes: number;
}

interface SessionEntry {
  readonly session: RenderSession;
  readonly place: PermitPlace;
  output?: ExpectedOutput;
}

export class SessionRegistry {
  readonly #entries = new Map<string, SessionEntry>();

  open(kind: AssetKind, asset: Asset | undefined, place: PermitPlace, issuer: TicketIssuer): RenderSession {
    const session = new RenderSession(kind, asset, issuer);
    this.#entries.set(session.id, { session, place });
    return session;
  }

  find(id: string): RenderSession | undefined {
    return this.#entries.get(id)?.session;
  }

  all(): readonly RenderSession[] {
    return [...this.#entries.values()].map(({ session }) => session);
  }

  /** Returns the sessions of a kind that wait for a worker. */
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

  /** Closes the session. Its place can be entered again, for another session of the same render. */
  close(session: RenderSession): void {
    session.close();
    this.#entries.get(session.id)?.place.leave();
    this.#entries.delete(session.id);
  }
}
