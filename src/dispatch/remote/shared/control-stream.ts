// The worker's end of the line to a front: steps come in, one at a time; the line's end is the end of the work. Silence
// means that the front is gone.

import type { IncomingMessage } from 'node:http';
import { ApiServerUnreachable, TicketRejected } from '../worker/api-server-client.ts';
import type { ControlMessage } from './wire.ts';

type StepLine = Extract<ControlMessage, { type: 'step' }>;

/** A recipe with ten captions in it is far shorter. */
const MAX_LINE = 1_000_000;

export class WorkerControlStream {
  readonly #response: IncomingMessage;
  readonly #over = new AbortController();
  readonly #steps: StepLine[] = [];
  #wake: (() => void) | undefined;

  constructor(response: IncomingMessage) {
    this.#response = response;
    let rest = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE) this.close();
      for (const line of lines) this.#read(line);
    });
    // Broken is what does not end with a word of farewell.
    response.once('close', () => this.#finish(new ApiServerUnreachable()));
    response.on('error', (error) => this.#finish(new ApiServerUnreachable(error)));
  }

  /** Fires when the front wants nothing more; the reason tells whether it said so. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The next step, or `undefined` at the end. */
  async next(): Promise<StepLine | undefined> {
    while (this.#steps.length === 0 && !this.#over.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#over.signal.aborted ? undefined : this.#steps.shift();
  }

  close(): void {
    this.#response.destroy();
  }

  #read(text: string): void {
    if (text === '') return;
    const line = parse(text);
    if (line === undefined) return this.close();
    if (line.type === 'end') return this.#finish(new TicketRejected(410));
    this.#steps.push(line);
    this.#wake?.();
  }

  #finish(reason: Error): void {
    if (!this.#over.signal.aborted) this.#over.abort(reason);
    this.#wake?.();
  }
}

function parse(text: string): ControlMessage | undefined {
  try {
    return JSON.parse(text) as ControlMessage;
  } catch {
    return undefined;
  }
}
