// The worker's end of a control stream, which delivers steps one at a time. When the stream ends, so does the work on
// the ticket.

import type { IncomingMessage } from 'node:http';
import { parseControlMessage, type StepMessage } from '../shared/control-messages.ts';
import { ApiServerUnreachable, TicketRejected } from './api-server-client.ts';

/** Far longer than a recipe with the longest subtitles. */
const MAX_LINE_CHARACTERS = 4_000_000;

export class ControlStreamReader {
  readonly #response: IncomingMessage;
  readonly #ended = new AbortController();
  readonly #steps: StepMessage[] = [];
  #wake: (() => void) | undefined;

  constructor(response: IncomingMessage) {
    this.#response = response;
    let rest = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_CHARACTERS) this.close();
      for (const line of lines) this.#read(line);
    });
    // A connection that closes without an `end` message is broken.
    response.once('close', () => this.#end(new ApiServerUnreachable()));
    response.on('error', (error) => this.#end(new ApiServerUnreachable(error)));
  }

  /** Aborts when the stream ends. The reason is `TicketRejected` if the API server ended it, else `ApiServerUnreachable`. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Returns the next step, or `undefined` when the stream has ended. */
  async next(): Promise<StepMessage | undefined> {
    while (this.#steps.length === 0 && !this.#ended.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#ended.signal.aborted ? undefined : this.#steps.shift();
  }

  close(): void {
    this.#response.destroy();
  }

  #read(line: string): void {
    if (line === '') return;
    const message = parseControlMessage(line);
    if (message === undefined) return this.close();
    if (message.type === 'end') return this.#end(new TicketRejected(410));
    this.#steps.push(message);
    this.#wake?.();
  }

  #end(reason: Error): void {
    if (!this.#ended.signal.aborted) this.#ended.abort(reason);
    this.#wake?.();
  }
}
