import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { LineChannel } from './line-channel.ts';

/** A channel, what it heard, and the stream to speak into it. */
function open() {
  const written: string[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString());
      done();
    },
  });
  const heard: unknown[] = [];
  const ends: string[] = [];
  const channel = new LineChannel(stream, {
    onClose: () => ends.push('closed'),
    onInvalidMessage: () => ends.push('garbage'),
  });
  channel.onMessage((message) => heard.push(message));
  const say = async (...texts: string[]): Promise<void> => {
    for (const text of texts) stream.push(text);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { channel, stream, written, heard, ends, say };
}

describe('a channel of lines', () => {
  it('carries messages, however the stream cuts them', async () => {
    const { channel, written, heard, ends, say } = open();
    await say('{"a":1}\n{"b"', ':"', 'ü', '\\n"}\n', '[]', '\n');
    expect(heard).toEqual([{ a: 1 }, { b: 'ü\n' }, []]);
    expect(channel.send({ c: 'two\nlines' })).toBe(true);
    expect(written).toEqual(['{"c":"two\\nlines"}\n']);
    expect(ends).toEqual([]);
  });

  it.each(['{broken\n', '\n', 'undefined\n', '{"a":1}{"b":2}\n'])(
    'closes at %j, and hears nothing after it',
    async (text) => {
      const { channel, heard, ends, say } = open();
      await say(`${text}{"after":1}\n`);
      expect([heard, ends]).toEqual([[], ['garbage', 'closed']]);
      expect(channel.send({})).toBe(false);
    },
  );

  it('does not keep a line without end', async () => {
    const { ends, say } = open();
    const part = 'x'.repeat(64 * 1024);
    for (let count = 0; count < 17; count += 1) await say(part);
    expect(ends).toEqual(['garbage', 'closed']);
  });

  it('says when the other end is gone, by an error or without', async () => {
    const { channel, stream, ends } = open();
    stream.destroy(new Error('EPIPE'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).toEqual(['closed']);
    expect(channel.send({})).toBe(false);
  });
});
