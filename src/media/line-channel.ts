// Messages between processes, as lines of JSON over a stream. Not the channel that Node has for this: there a broken line
// from a child ends the parent, and here the child may be in the hands of a stranger.

import type { Duplex } from 'node:stream';

/** Far more than any task or result has; a longer one only wants to fill our memory. */
const MAX_MESSAGE_CHARACTERS = 1024 * 1024;

export interface ChannelHandlers {
  /** The other end is gone. */
  readonly onClose: () => void;
  /** The other end says what nobody can understand; the channel is closed. */
  readonly onInvalidMessage: () => void;
}

export class LineChannel {
  readonly #stream: Duplex;
  readonly #onInvalidMessage: () => void;
  #listener: (message: unknown) => void = () => undefined;
  #rest = '';

  constructor(stream: Duplex, { onClose, onInvalidMessage }: ChannelHandlers) {
    this.#stream = stream;
    this.#onInvalidMessage = onInvalidMessage;
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => this.#receive(text));
    // Followed by 'close'; without a listener it would end us.
    stream.on('error', () => undefined);
    stream.once('close', onClose);
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#listener = listener;
  }

  /** False when nobody is there any more. */
  send(message: object): boolean {
    if (!this.#stream.writable) return false;
    this.#stream.write(`${JSON.stringify(message)}\n`);
    return true;
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MAX_MESSAGE_CHARACTERS) this.#break();
    for (const line of lines) {
      if (this.#stream.destroyed) return;
      const message = parse(line);
      if (message === undefined) this.#break();
      else this.#listener(message);
    }
  }

  #break(): void {
    this.#rest = '';
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
