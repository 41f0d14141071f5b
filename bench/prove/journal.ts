// Records every response that clients received in a scenario, and reports those that must never occur: undocumented
// responses, secrets of others, and internal errors.

import type { IncomingHttpHeaders } from 'node:http';
import { ERRORS } from '../../src/shared/error-table.ts';

export interface ResponseRecord {
  /** 0 when the connection broke before the response was complete. */
  readonly status: number;
  /** `delivered`, the code of the problem, or why the connection broke. */
  readonly code: string;
  readonly renderId: string;
  /** Latency from the scheduled moment to the last byte. */
  readonly ms: number;
  /** When the last byte arrived, on the clock of `performance.now()`. */
  readonly receivedAt: number;
}

const MAX_VIOLATIONS = 10;
const STATUS_OF: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(ERRORS).map(([code, { status }]) => [code, status]),
);

/** Recognizes the output formats. */
const OUTPUTS: ReadonlyMap<string, (body: Buffer) => boolean> = new Map([
  ['image/png', (body) => body.readUInt32BE(0) === 0x89504e47],
  ['image/jpeg', (body) => body.readUInt16BE(0) === 0xffd8],
  ['image/webp', (body) => body.toString('latin1', 8, 12) === 'WEBP'],
  ['video/mp4', (body) => body.toString('latin1', 4, 8) === 'ftyp'],
]);

export class Journal {
  /** Charged credits by render id, for every render whose last byte arrived. */
  readonly delivered = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  readonly #violations: string[] = [];
  readonly #canaries: readonly Buffer[];

  constructor(canaries: readonly string[] = []) {
    this.#canaries = canaries.map((canary) => Buffer.from(canary));
  }

  get violations(): readonly string[] {
    return this.#violations;
  }

  /** Number of responses by code. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  violation(text: string): void {
    if (this.#violations.length < MAX_VIOLATIONS) this.#violations.push(text);
  }

  count(code: string): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
  }

  /** Checks a complete response and returns its code. */
  record(status: number, headers: IncomingHttpHeaders, body: Buffer): { code: string; renderId: string } {
    for (const canary of this.#canaries) if (body.includes(canary)) this.violation('a response contains a canary');
    const renderId = String(headers['x-render-id'] ?? '');
    const code =
      status === 200 ? this.#recordDelivery(headers, body, renderId) : this.#recordProblem(status, headers, body);
    this.count(code);
    return { code, renderId };
  }

  #recordDelivery(headers: IncomingHttpHeaders, body: Buffer, renderId: string): string {
    const type = headers['content-type'] ?? '';
    if (OUTPUTS.get(type)?.(body) !== true)
      this.violation(`a 200 isn't an output format, or not the one it claims: ${type}`);
    const isReplay = headers['idempotency-replayed'] !== undefined;
    if (this.delivered.has(renderId) && !isReplay) this.violation(`render ${renderId} was delivered twice`);
    this.delivered.set(renderId, Number(headers['x-credits-charged'] ?? Number.NaN));
    return 'delivered';
  }

  #recordProblem(status: number, headers: IncomingHttpHeaders, body: Buffer): string {
    const text = body.toString();
    if (!String(headers['content-type']).startsWith('application/problem+json')) {
      this.violation(`a ${status} has content type ${headers['content-type']}: ${text.slice(0, 100)}`);
      return `undocumented ${status}`;
    }
    const problem = JSON.parse(text) as { code: string; status: number; instance: string };
    if (STATUS_OF[problem.code] !== status || problem.status !== status) {
      this.violation(`code ${problem.code} has status ${status}`);
    }
    if (problem.instance !== headers['x-request-id']) this.violation(`a ${problem.code} lacks its request id`);
    if ((status === 429 || status === 503) && headers['retry-after'] === undefined) {
      this.violation(`a ${problem.code} lacks retry-after`);
    }
    if (status === 500) this.violation(`internal_error in render ${problem.instance}`);
    return problem.code;
  }
}
