// Incidents that operators tell customers about. An incident only gets more updates, so that its history stays as it was told.

import { randomUUID } from 'node:crypto';
import { must } from '../../../shared/must.ts';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { type Engine, first, insertRow, type SqlSession } from '../engine.ts';
import { integer, oneOf, type SqlRow, text, textOrNull } from '../rows.ts';

export const INCIDENT_IMPACTS = ['maintenance', 'degraded', 'outage'] as const;
export type IncidentImpact = (typeof INCIDENT_IMPACTS)[number];

interface IncidentUpdate {
  readonly at: string;
  readonly body: string;
}

export interface Incident {
  readonly id: string;
  readonly title: string;
  readonly impact: IncidentImpact;
  readonly startedAt: string;
  /** Null while it lasts. */
  readonly endedAt: string | null;
  /** Newest first. */
  readonly updates: readonly IncidentUpdate[];
}

export type NewIncident = Pick<Incident, 'title' | 'impact'> & Pick<IncidentUpdate, 'body'>;

/** More incidents than this at the same time, or in 90 days, aren't shown. */
const MAX_LISTED = 200;

export class Incidents {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** Returns the id. */
  async report({ title, impact, body }: NewIncident, actor: Actor): Promise<string> {
    const id = randomUUID();
    const at = this.#clock().toISOString();
    await this.#engine.transaction(async (session) => {
      await insertRow(session, 'incidents', { id, title, impact, startedAt: at });
      await insertRow(session, 'incident_updates', { incidentId: id, number: 1, at, body });
      const details = { title, impact };
      await recordAudit(session, at, { actor, action: 'incident.reported', accountId: null, subject: id, details });
    });
    return id;
  }

  /** Adds an update, which may end the incident. Returns false when there is none or it has ended. */
  async update(id: string, { body, isOver }: { body: string; isOver: boolean }, actor: Actor): Promise<boolean> {
    const at = this.#clock().toISOString();
    return await this.#engine.transaction(async (session) => {
      // This locks the incident, so that two updates get different numbers.
      const change = 'update incidents set ended_at = :endedAt where id = :id and ended_at is null';
      if ((await session.run(change, { id, endedAt: isOver ? at : null })) === 0) return false;
      const latest = await first(
        session,
        'select max(number) as number from incident_updates where incident_id = :id',
        {
          id,
        },
      );
      const number = integer(must(latest, 'the latest update'), 'number') + 1;
      await insertRow(session, 'incident_updates', { incidentId: id, number, at, body });
      const action = isOver ? 'incident.ended' : 'incident.updated';
      await recordAudit(session, at, { actor, action, accountId: null, subject: id });
      return true;
    });
  }

  async find(id: string): Promise<Incident | undefined> {
    return (await this.#read('id = :id', { id }))[0];
  }

  /** Lists incidents that haven't ended, newest first. */
  async open(): Promise<Incident[]> {
    return await this.#read('ended_at is null', {});
  }

  /** Lists incidents that began after `since` or still last, newest first. */
  async since(since: Date): Promise<Incident[]> {
    const begun = await this.#read('started_at >= :since', { since });
    const older = (await this.open()).filter(({ id }) => begun.every((incident) => incident.id !== id));
    return [...begun, ...older];
  }

  async #read(condition: string, parameters: Readonly<Record<string, string | Date>>): Promise<Incident[]> {
    const rows = await this.#engine.all(
      `select id, title, impact, started_at, ended_at from incidents where ${condition}
       order by started_at desc, id desc limit ${MAX_LISTED}`,
      parameters,
    );
    return await Promise.all(rows.map(async (row) => toIncident(row, await updatesOf(this.#engine, text(row, 'id')))));
  }
}

async function updatesOf(session: SqlSession, id: string): Promise<IncidentUpdate[]> {
  const sql = 'select at, body from incident_updates where incident_id = :id order by number desc';
  return (await session.all(sql, { id })).map((row) => ({ at: text(row, 'at'), body: text(row, 'body') }));
}

function toIncident(row: SqlRow, updates: readonly IncidentUpdate[]): Incident {
  return {
    id: text(row, 'id'),
    title: text(row, 'title'),
    impact: oneOf(row, 'impact', INCIDENT_IMPACTS),
    startedAt: text(row, 'started_at'),
    endedAt: textOrNull(row, 'ended_at'),
    updates,
  };
}
