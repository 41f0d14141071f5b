// Sends spans to an OpenTelemetry collector: OTLP over HTTP, as JSON. The official exporter and its SDK take 32 MB on disk for
// what is one POST request here, because spans are built when a request has ended and need no context propagation.

import type { Span, SpanAttributes } from './trace-spans.ts';

export interface OtlpOptions {
  /** The base URL of the collector. Spans go to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Describes this process. */
  readonly resource: SpanAttributes;
  /** Called with the number of spans that were lost, and why. */
  readonly onLost: (spans: number, reason: unknown) => void;
}

const FLUSH_INTERVAL_MS = 2_000;
const MAX_BATCH = 512;
/** A collector that is too slow must not fill the memory. */
const MAX_BUFFERED = 4_096;
const TIMEOUT_MS = 10_000;
/** https://opentelemetry.io/docs/specs/otlp/: SPAN_KIND_INTERNAL and SPAN_KIND_SERVER, STATUS_CODE_ERROR. */
const KINDS = { internal: 1, server: 2 } as const;
const STATUS_ERROR = 2;

export class OtlpExporter {
  readonly #options: OtlpOptions;
  readonly #timer: NodeJS.Timeout;
  #buffer: Span[] = [];
  #sending: Promise<void> = Promise.resolve();
  #isSending = false;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** Never throws and never waits. */
  add(spans: readonly Span[]): void {
    const room = MAX_BUFFERED - this.#buffer.length;
    if (spans.length > room) {
      this.#options.onLost(spans.length, new Error('the collector is too slow'));
      return;
    }
    this.#buffer.push(...spans);
    if (this.#buffer.length >= MAX_BATCH) this.#flush();
  }

  /** Sends the remaining spans. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    while (this.#buffer.length > 0) await this.#sendBatch();
  }

  #flush(): void {
    if (this.#isSending || this.#buffer.length === 0) return;
    this.#isSending = true;
    this.#sending = this.#sendBatch().finally(() => {
      this.#isSending = false;
      if (this.#buffer.length >= MAX_BATCH) this.#flush();
    });
  }

  /** A batch that can't be delivered is lost, because traces are samples and requests must not wait for them. */
  async #sendBatch(): Promise<void> {
    const batch = this.#buffer.splice(0, MAX_BATCH);
    const { endpoint, headers, resource, onLost } = this.#options;
    try {
      const response = await fetch(`${endpoint}/v1/traces`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(toOtlp(batch, resource)),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`the collector responded with ${response.status}`);
    } catch (error) {
      onLost(batch.length, error);
    }
  }
}

function toOtlp(spans: readonly Span[], resource: SpanAttributes): object {
  const scopeSpans = [{ scope: { name: 'storybar' }, spans: spans.map(toOtlpSpan) }];
  return { resourceSpans: [{ resource: { attributes: toOtlpAttributes(resource) }, scopeSpans }] };
}

function toOtlpSpan({ start, end, kind, attributes, isError, parentSpanId, ...span }: Span): object {
  return {
    ...span,
    ...(parentSpanId !== undefined && { parentSpanId }),
    kind: KINDS[kind],
    startTimeUnixNano: toNanoseconds(start),
    endTimeUnixNano: toNanoseconds(end),
    attributes: toOtlpAttributes(attributes),
    ...(isError && { status: { code: STATUS_ERROR } }),
  };
}

function toOtlpAttributes(attributes: SpanAttributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [
      { key, value: typeof value === 'number' ? { intValue: String(Math.round(value)) } : { stringValue: value } },
    ];
  });
}

/** The result is a string, because the number has more digits than a JSON number keeps. */
function toNanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n);
}
