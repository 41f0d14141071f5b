// Messages between processes as newline-delimited JSON. Node's own IPC channel isn't used because a malformed line from
// the child crashes the parent, and a compromised decoder could send one.

import type { Duplex } from 'node:stream';
import { must } from '../../shared/must.ts';

/** Far above any task or result. The limit keeps a compromised child from filling our memory. */
const MAX_MESSAGE_CHARACTERS = 4 * 1024 * 1024;

export interface ChannelHandlers {
  readonly onClose: () => void;
  /** Called when the other end sent something other than JSON. The channel is closed. */
  readonly onInvalidMessage: () => void;
}

export class LineChannel {
  readonly #stream: Duplex;
  readonly #onInvalidMessage: () => void;
  #listener: (message: unknown) => void = () => undefined;
  #incomplete = '';

  constructor(stream: Duplex, { onClose, onInvalidMessage }: ChannelHandlers) {
    this.#stream = stream;
    this.#onInvalidMessage = onInvalidMessage;
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => this.#receive(text));
    // 'close' follows every 'error'. Without this listener, Node would exit on an error.
    stream.on('error', () => undefined);
    stream.once('close', onClose);
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#listener = listener;
  }

  /** Returns false when the channel is closed. */
  send(message: object): boolean {
    if (!this.#stream.writable) return false;
    this.#stream.write(`${JSON.stringify(message)}\n`);
    return true;
  }

  #receive(text: string): void {
    const lines = (this.#incomplete + text).split('\n');
    this.#incomplete = must(lines.pop(), 'the last line');
    if (this.#incomplete.length > MAX_MESSAGE_CHARACTERS) this.#fail();
    for (const line of lines) {
      if (this.#stream.destroyed) return;
      const message = parse(line);
      if (message === undefined) this.#fail();
      else this.#listener(message);
    }
  }

  #fail(): void {
    this.#incomplete = '';
    this.#stream.destroy();
    this.#onInvalidMessage();
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
