// Everything clients saw in a scenario, and what of it must never happen: an answer that is not documented, a secret of
// somebody else, a fault of ours.

import type { IncomingHttpHeaders } from 'node:http';
import { PROBLEMS } from '../../src/http/reference/statuses.ts';

export interface Answer {
  /** 0: the connection broke before a whole answer came. */
  readonly status: number;
  /** `delivered`, the code of the problem, or why the connection broke. */
  readonly code: string;
  readonly renderId: string;
  /** From the scheduled moment to the last byte. */
  readonly ms: number;
  /** When the last byte came, on the clock of `performance.now()`. */
  readonly at: number;
}

const MOST_FAULTS = 10;
const STATUS_OF: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(PROBLEMS).map(([code, { status }]) => [code, status]),
);

export class Journal {
  /** Credits of every render whose last byte arrived, by its id. */
  readonly delivered = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  readonly #faults: string[] = [];
  readonly #canaries: readonly Buffer[];

  constructor(canaries: readonly string[] = []) {
    this.#canaries = canaries.map((canary) => Buffer.from(canary));
  }

  get faults(): readonly string[] {
    return this.#faults;
  }

  /** How many answers there were of each kind. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  fault(text: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(text);
  }

  count(code: string): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
  }

  /** Judges one whole answer and says what it is. */
  read(status: number, headers: IncomingHttpHeaders, body: Buffer): { code: string; renderId: string } {
    for (const canary of this.#canaries) if (body.includes(canary)) this.fault('an answer holds a canary');
    const renderId = String(headers['x-render-id'] ?? '');
    const code =
      status === 200 ? this.#readDelivery(headers, body, renderId) : this.#readProblem(status, headers, body);
    this.count(code);
    return { code, renderId };
  }

  #readDelivery(headers: IncomingHttpHeaders, body: Buffer, renderId: string): string {
    const isPng = headers['content-type'] === 'image/png' && body.readUInt32BE(0) === 0x89504e47;
    const isMp4 = headers['content-type'] === 'video/mp4' && body.toString('latin1', 4, 8) === 'ftyp';
    if (!isPng && !isMp4) this.fault(`a 200 that is neither PNG nor MP4: ${headers['content-type']}`);
    const replayed = headers['idempotency-replayed'] !== undefined;
    if (this.delivered.has(renderId) && !replayed) this.fault(`render ${renderId} was delivered twice`);
    this.delivered.set(renderId, Number(headers['x-credits-charged'] ?? Number.NaN));
    return 'delivered';
  }

  #readProblem(status: number, headers: IncomingHttpHeaders, body: Buffer): string {
    const text = body.toString();
    if (!String(headers['content-type']).startsWith('application/problem+json')) {
      this.fault(`a ${status} of type ${headers['content-type']}: ${text.slice(0, 100)}`);
      return `undocumented ${status}`;
    }
    const problem = JSON.parse(text) as { code: string; status: number; instance: string };
    if (STATUS_OF[problem.code] !== status || problem.status !== status) {
      this.fault(`code ${problem.code} came with status ${status}`);
    }
    if (problem.instance !== headers['x-render-id']) this.fault(`a ${problem.code} without its render id`);
    if ((status === 429 || status === 503) && headers['retry-after'] === undefined) {
      this.fault(`a ${problem.code} without retry-after`);
    }
    if (status === 500) this.fault(`internal_error, render ${problem.instance}`);
    return problem.code;
  }
}
