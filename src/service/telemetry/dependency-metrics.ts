// Metrics of the dependencies that fail first: NATS, the database, payment events, the mail server, the sandbox.
// Counters exist from the start with the value 0, so that an alert sees their first increase.

import type { Counter, Gauge } from 'prom-client';
import type { MetricsRegistry } from './metrics-registry.ts';

const TICKET_EVENTS = ['issued', 'claimed', 'lost', 'served', 'given_back', 'refused', 'incompatible'] as const;
const WEBHOOK_RESULTS = ['accepted', 'refused', 'failed'] as const;
const MAIL_RESULTS = ['sent', 'failed'] as const;

export type TicketEvent = (typeof TICKET_EVENTS)[number];

/** The connections of this process to PostgreSQL. */
export interface PoolConnections {
  readonly total: number;
  readonly idle: number;
  /** The number of statements that wait for a connection. */
  readonly waiting: number;
}

/** The sum of what all workers report. Every API server knows the same figures. */
export interface FleetReading {
  readonly slots: number;
  readonly ready: number;
  readonly busy: number;
  readonly ticketsWaiting: number;
  readonly ticketsTaken: number;
}

export class DependencyMetrics {
  readonly #registry: MetricsRegistry;
  readonly #tickets: Counter<'event'>;
  readonly #storeErrors: Counter;
  readonly #webhooks: Counter<'result'>;
  readonly #mails: Counter<'result'>;
  readonly #spansLost: Counter;
  readonly #housekeepingFailures: Counter<'task'>;
  readonly #housekeepingSuccess: Gauge<'task'>;
  #natsDisconnects: Counter | undefined;

  constructor(registry: MetricsRegistry) {
    this.#registry = registry;
    this.#tickets = registry.counter('tickets_total', 'Tickets for renders on other machines, by event.', ['event']);
    this.#storeErrors = registry.counter('store_errors_total', 'Database operations that failed.', []);
    this.#webhooks = registry.counter('webhooks_total', 'Events from the payment provider, by result.', ['result']);
    this.#mails = registry.counter('mails_total', 'Emails, by result.', ['result']);
    this.#spansLost = registry.counter('trace_spans_lost_total', 'Spans that the collector did not accept.', []);
    this.#housekeepingFailures = registry.counter(
      'housekeeping_failures_total',
      'Periodic tasks that failed, by task. They run again at their next interval.',
      ['task'],
    );
    this.#housekeepingSuccess = registry.gauge(
      'housekeeping_success_timestamp_seconds',
      'When a periodic task last succeeded, or was started. Some tasks run on one server at a time.',
      ['task'],
    );
    for (const event of TICKET_EVENTS) this.#tickets.inc({ event }, 0);
    for (const result of WEBHOOK_RESULTS) this.#webhooks.inc({ result }, 0);
    for (const result of MAIL_RESULTS) this.#mails.inc({ result }, 0);
  }

  ticket(event: TicketEvent): void {
    this.#tickets.inc({ event });
  }

  storeFailed(): void {
    this.#storeErrors.inc();
  }

  webhook(result: (typeof WEBHOOK_RESULTS)[number]): void {
    this.#webhooks.inc({ result });
  }

  mail(result: (typeof MAIL_RESULTS)[number]): void {
    this.#mails.inc({ result });
  }

  spansLost(spans: number): void {
    this.#spansLost.inc(spans);
  }

  /** A periodic task exists from now on. */
  taskStarted(task: string): void {
    this.#housekeepingFailures.inc({ task }, 0);
    this.#housekeepingSuccess.setToCurrentTime({ task });
  }

  taskEnded(task: string, isSuccess: boolean): void {
    if (isSuccess) this.#housekeepingSuccess.setToCurrentTime({ task });
    else this.#housekeepingFailures.inc({ task });
  }

  /** `place` is `data` or `storage`. */
  watchDisks(reserveBytes: number, read: () => ReadonlyMap<string, number>): void {
    this.#registry
      .gauge('disk_reserve_bytes', 'Uploads are refused when less disk space is free.', [])
      .set(reserveBytes);
    this.#registry.gauge('disk_free_bytes', 'Free disk space, by what is kept there.', ['place'], (gauge) => {
      for (const [place, bytes] of read()) gauge.set({ place }, bytes);
    });
  }

  natsDisconnected(): void {
    this.#natsDisconnects?.inc();
  }

  sandbox(level: string): void {
    this.#registry.gauge('sandbox_info', 'The sandbox level of render workers.', ['level']).set({ level }, 1);
  }

  /** Call this only in processes that use NATS, because for others a 0 would look like an outage. */
  watchNats(isConnected: () => boolean): void {
    this.#natsDisconnects = this.#registry.counter('nats_disconnects_total', 'Lost connections to NATS.', []);
    this.#registry.gauge('nats_connected', '1 while this process is connected to NATS.', [], (gauge) => {
      gauge.set(isConnected() ? 1 : 0);
    });
  }

  watchConnections(read: () => PoolConnections): void {
    this.#registry.gauge('store_connections', 'Connections to the database, by state.', ['state'], (gauge) => {
      const { total, idle } = read();
      gauge.set({ state: 'idle' }, idle);
      gauge.set({ state: 'busy' }, total - idle);
    });
    this.#registry.gauge('store_waiting', 'Database operations that wait for a connection.', [], (gauge) => {
      gauge.set(read().waiting);
    });
  }

  watchPendingWrites(read: () => number): void {
    this.#registry.gauge(
      'ledger_pending_writes',
      'Ledger entries that the database could not take yet.',
      [],
      (gauge) => {
        gauge.set(read());
      },
    );
  }

  /** Every API server reports the same values, so the names warn against adding them up. */
  watchFleet(read: () => { readonly image: FleetReading; readonly video: FleetReading }): void {
    const pools = ['image', 'video'] as const;
    const note = 'Every API server reports the same value: aggregate with max, not sum.';
    this.#registry.gauge('fleet_slots', `Render slots of all worker nodes. ${note}`, ['pool', 'state'], (gauge) => {
      const readings = read();
      for (const pool of pools) {
        const { slots, ready, busy } = readings[pool];
        gauge.set({ pool, state: 'wanted' }, slots);
        gauge.set({ pool, state: 'ready' }, ready);
        gauge.set({ pool, state: 'busy' }, busy);
      }
    });
    this.#registry.gauge('fleet_tickets', `Tickets on the NATS queue. ${note}`, ['pool', 'state'], (gauge) => {
      const readings = read();
      for (const pool of pools) {
        gauge.set({ pool, state: 'waiting' }, readings[pool].ticketsWaiting);
        gauge.set({ pool, state: 'taken' }, readings[pool].ticketsTaken);
      }
    });
  }
}
