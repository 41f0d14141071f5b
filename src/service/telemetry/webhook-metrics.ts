// Metrics of webhooks. Counters exist from the start with the value 0, so that an alert sees their first increase.

import type { Counter } from 'prom-client';
import type { MetricsRegistry } from './metrics-registry.ts';

const RESULTS = { succeeded: 'succeeded', retry: 'retried', 'given up': 'given_up', gone: 'gone' } as const;
const REASONS = ['gone', 'failing'] as const;

export class WebhookMetrics {
  readonly #registry: MetricsRegistry;
  readonly #attempts: Counter<'result'>;
  readonly #disabled: Counter<'reason'>;

  constructor(registry: MetricsRegistry) {
    this.#registry = registry;
    this.#attempts = registry.counter('webhook_attempts_total', 'Attempts to deliver a webhook, by result.', [
      'result',
    ]);
    this.#disabled = registry.counter(
      'webhook_endpoints_disabled_total',
      'Webhook endpoints that were disabled because of their responses, by reason.',
      ['reason'],
    );
    for (const result of Object.values(RESULTS)) this.#attempts.inc({ result }, 0);
    for (const reason of REASONS) this.#disabled.inc({ reason }, 0);
  }

  attempted(kind: keyof typeof RESULTS): void {
    this.#attempts.inc({ result: RESULTS[kind] });
  }

  disabled(reason: string): void {
    this.#disabled.inc({ reason });
  }

  /** `read` is called at every scrape. */
  watchSending(read: () => number): void {
    this.#registry.gauge('webhooks_sending', 'Webhooks that this server is sending.', [], (gauge) => {
      gauge.set(read());
    });
  }
}
