// What workers send, on this machine and on others. A compromised worker may send anything.

import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { parseControlMessage } from '../../../src/service/dispatch/remote/shared/control-messages.ts';
import { parseTicket } from '../../../src/service/dispatch/remote/shared/wire.ts';
import {
  InvalidReport,
  parsePresence,
  parseProbe,
  parseProgress,
  parseStepFailure,
  parseWorkerMessage,
  toError,
} from '../../../src/service/dispatch/reports.ts';
import { LineChannel } from '../../../src/engine/media/line-channel.ts';
import { allowing, check } from '../check.ts';

const isRefusal = (error: unknown): boolean => error instanceof InvalidReport;

/** The first byte is the size of the chunks. Only `InvalidReport` may be thrown, and what passes a schema passes it again. */
export async function fuzz(input: Buffer): Promise<void> {
  const bytes = input.subarray(1);
  const text = bytes.toString();
  parseTicket(bytes);
  parseControlMessage(text);
  allowing(isRefusal, () => parsePresence(bytes));
  for (const message of await receive(bytes, 1 + (input[0] ?? 0))) checkMessage(message);
}

async function receive(bytes: Buffer, size: number): Promise<unknown[]> {
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const messages: unknown[] = [];
  const channel = new LineChannel(stream, { onClose: () => undefined, onInvalidMessage: () => undefined });
  channel.onMessage((message) => messages.push(message));
  for (let at = 0; at < bytes.length && !stream.destroyed; at += size) stream.push(bytes.subarray(at, at + size));
  await setImmediate();
  stream.destroy();
  return messages;
}

function checkMessage(value: unknown): void {
  allowing(isRefusal, () => parseProgress(value));
  const failure = allowing(isRefusal, () => parseStepFailure(value));
  if (failure) check(toError(failure).message.length > 0 || failure.message === '', 'a failure has its message');
  for (const format of ['png', 'heic', 'mp4'] as const) {
    const probe = allowing(isRefusal, () => parseProbe(value, format));
    if (probe) check(isDeepStrictEqual(parseProbe(probe, format), probe), 'a probe passes its schema again');
  }
  const message = allowing(isRefusal, () => parseWorkerMessage(value));
  if (message) check(isDeepStrictEqual(parseWorkerMessage(message), message), 'a message passes its schema again');
}
