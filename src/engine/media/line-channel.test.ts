import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { LineChannel } from './line-channel.ts';

/** A channel over an in-memory stream, with everything it received and wrote. */
function openChannel() {
  const written: string[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString());
      done();
    },
  });
  const received: unknown[] = [];
  const events: string[] = [];
  const channel = new LineChannel(stream, {
    onClose: () => events.push('closed'),
    onInvalidMessage: () => events.push('invalid'),
  });
  channel.onMessage((message) => received.push(message));
  const feed = async (...texts: string[]): Promise<void> => {
    for (const text of texts) stream.push(text);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { channel, stream, written, received, events, feed };
}

describe('LineChannel', () => {
  it('reassembles messages that the stream delivers in arbitrary chunks', async () => {
    const { channel, written, received, events, feed } = openChannel();
    await feed('{"a":1}\n{"b"', ':"', 'ü', '\\n"}\n', '[]', '\n');
    expect(received).toEqual([{ a: 1 }, { b: 'ü\n' }, []]);
    expect(channel.send({ c: 'two\nlines' })).toBe(true);
    expect(written).toEqual(['{"c":"two\\nlines"}\n']);
    expect(events).toEqual([]);
  });

  it.each(['{broken\n', '\n', 'undefined\n', '{"a":1}{"b":2}\n'])(
    'closes on the invalid line %j and ignores what follows',
    async (text) => {
      const { channel, received, events, feed } = openChannel();
      await feed(`${text}{"after":1}\n`);
      expect([received, events]).toEqual([[], ['invalid', 'closed']]);
      expect(channel.send({})).toBe(false);
    },
  );

  it('closes when a line exceeds the size limit', async () => {
    const { events, feed } = openChannel();
    const part = 'x'.repeat(64 * 1024);
    for (let count = 0; count < 65; count += 1) await feed(part);
    expect(events).toEqual(['invalid', 'closed']);
  });

  it('reports a close and refuses to send after the stream failed', async () => {
    const { channel, stream, events } = openChannel();
    stream.destroy(new Error('EPIPE'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toEqual(['closed']);
    expect(channel.send({})).toBe(false);
  });
});
