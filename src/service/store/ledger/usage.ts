import { KEY_MODES, type KeyMode } from '../../account/api-key.ts';
import { BROKEN_CHARGED, BROKEN_FREE } from '../../account/broken-delivery.ts';
import { type Engine, first, type SqlSession, insertRow } from '../engine.ts';
import { integer, integerOrNull, oneOf, type SqlRow, text } from '../rows.ts';
import type { Clock } from '../audit.ts';
import { deleteOldest, listInSteps } from '../bounded/steps.ts';
import { storeDay, usageDetails, type RenderKind, type UsageDay, type UsageDetail } from './usage-details.ts';

export interface RenderSummary {
  readonly id: string;
  readonly kind: RenderKind;
  readonly mode: KeyMode;
  readonly state: 'reserved' | 'settled' | 'released';
  readonly outcome: string;
  readonly credits: number;
  readonly createdAt: string;
  readonly durationMs: number | null;
}

export interface AccountUsage {
  readonly accountId: string;
  readonly mode: KeyMode;
  /** All requested renders, whatever their outcome. */
  readonly renders: number;
  readonly delivered: number;
  /** Broken deliveries, free and charged. */
  readonly broken: number;
  readonly brokenCharged: number;
  readonly credits: number;
}

export interface KeyDay {
  readonly day: string;
  readonly keyId: string | null;
  readonly mode: KeyMode;
  readonly renders: number;
  readonly credits: number;
}

/** Outcomes of renders whose credits were settled. */
const CHARGED_OUTCOMES: ReadonlySet<string> = new Set(['delivered', BROKEN_CHARGED]);

/** Adds to the sums of a day. */
export async function addUsage(
  session: SqlSession,
  usage: { accountId: string; day: string; mode: string; outcome: string; renders: number; credits: number },
): Promise<void> {
  const { accountId, day, mode, outcome, renders, credits } = usage;
  await insertRow(
    session,
    'usage_days',
    { accountId, day, mode, outcome, renders, credits },
    `on conflict (account_id, day, mode, outcome) do update set renders = usage_days.renders + excluded.renders, credits = usage_days.credits + excluded.credits`,
  );
}

export class Usage {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async days(accountId: string, from: string, to: string): Promise<UsageDay[]> {
    const rows = await this.#engine.all(
      `select day, mode, outcome, renders, credits from usage_days
       where account_id = :accountId and day >= :from and day <= :to order by day, mode, outcome`,
      { accountId, from, to },
    );
    return rows.map((row) => ({ day: text(row, 'day'), outcome: text(row, 'outcome'), ...toCounts(row) }));
  }

  /** Returns the deliveries per key and day. Renders without a key came from a marketplace. */
  async keyDays(accountId: string, from: string, to: string): Promise<KeyDay[]> {
    const days = new Map<string, KeyDay>();
    for (const { day, keyId, mode, outcome, renders, credits } of await this.details(accountId, from, to)) {
      if (!CHARGED_OUTCOMES.has(outcome)) continue;
      const name = `${day} ${keyId} ${mode}`;
      const sum = days.get(name) ?? { day, keyId, mode, renders: 0, credits: 0 };
      days.set(name, { ...sum, renders: sum.renders + renders, credits: sum.credits + credits });
    }
    return [...days.values()];
  }

  /** Like `keyDays`, but also per type, and with failed renders. */
  async details(accountId: string, from: string, to: string): Promise<UsageDetail[]> {
    return await usageDetails(this.#engine, this.#clock, accountId, { from, to });
  }

  /** Returns the sums per account over a range of days, largest first. */
  async totals(from: string, to: string): Promise<AccountUsage[]> {
    const rows = await this.#engine.all(
      `select account_id, mode, sum(renders) as renders,
              sum(case outcome when 'delivered' then renders else 0 end) as delivered,
              sum(case when outcome in (:free, :charged) then renders else 0 end) as broken,
              sum(case outcome when :charged then renders else 0 end) as broken_charged, sum(credits) as credits
       from usage_days where day >= :from and day <= :to group by account_id, mode
       order by sum(credits) desc, sum(renders) desc, account_id, mode`,
      { free: BROKEN_FREE, charged: BROKEN_CHARGED, from, to },
    );
    return rows.map((row) => ({
      accountId: text(row, 'account_id'),
      delivered: integer(row, 'delivered'),
      broken: integer(row, 'broken'),
      brokenCharged: integer(row, 'broken_charged'),
      ...toCounts(row),
    }));
  }

  async latest(accountId: string, count: number): Promise<RenderSummary[]> {
    const rows = await listInSteps(this.#engine, {
      columns: 'id, kind, mode, state, outcome, credits, created_at, duration_ms',
      table: 'holds',
      order: ['created_at', 'id'],
      within: [['account_id = :accountId', { accountId }]],
      filter: [],
      count,
    });
    return rows.map(toRender);
  }

  /**
   * Adds requests that were refused before credits were reserved. They appear in the account's usage and cost nothing.
   */
  async addRefusals(
    refusals: readonly { accountId: string; mode: KeyMode; outcome: string; count: number }[],
  ): Promise<void> {
    if (refusals.length === 0) return;
    const day = this.#clock().toISOString().slice(0, 10);
    // The order is always the same, so that two servers that add to the same rows can't deadlock.
    const ordered = refusals.toSorted((a, b) =>
      `${a.accountId}${a.mode}${a.outcome}` < `${b.accountId}${b.mode}${b.outcome}` ? -1 : 1,
    );
    await this.#engine.transaction(async (session) => {
      for (const { count, ...refusal } of ordered) {
        // The account may have been deleted since.
        const account = await session.all('select id from accounts where id = :accountId', {
          accountId: refusal.accountId,
        });
        if (account.length > 0) await addUsage(session, { ...refusal, day, renders: count, credits: 0 });
      }
    });
  }

  /** Deletes single renders that ended before `at`, day by day. The sums per day and key stay, however wrong the clock was. */
  async deleteBefore(at: Date): Promise<number> {
    for (let deleted = 0; ; ) {
      const oldest = await first(
        this.#engine,
        'select finished_at from holds where finished_at < :at order by finished_at limit 1',
        { at },
      );
      if (oldest === undefined) return deleted;
      const day = text(oldest, 'finished_at').slice(0, 10);
      await storeDay(this.#engine, day);
      const end = nextDay(day) < at.toISOString() ? nextDay(day) : at.toISOString();
      deleted += await deleteOldest(this.#engine, {
        table: 'holds',
        column: 'finished_at',
        within: ['finished_at < :end', { end }],
      });
    }
  }
}

function nextDay(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString();
}

function toCounts(row: SqlRow): Pick<UsageDay, 'mode' | 'renders' | 'credits'> {
  return { mode: oneOf(row, 'mode', KEY_MODES), renders: integer(row, 'renders'), credits: integer(row, 'credits') };
}

function toRender(row: SqlRow): RenderSummary {
  return {
    id: text(row, 'id'),
    kind: oneOf(row, 'kind', ['image', 'video', 'overlay']),
    mode: oneOf(row, 'mode', KEY_MODES),
    state: oneOf(row, 'state', ['reserved', 'settled', 'released']),
    outcome: text(row, 'outcome'),
    credits: integer(row, 'credits'),
    createdAt: text(row, 'created_at'),
    durationMs: integerOrNull(row, 'duration_ms'),
  };
}
