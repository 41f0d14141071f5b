import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LocalLimits } from './local-limits.ts';
import { UnpaidTranscripts } from './unpaid-transcripts.ts';

const ACCOUNT = { accountId: 'a' };
const OTHER = { accountId: 'b' };
const { signal } = new AbortController();

const create = (limits = new LocalLimits()) =>
  new UnpaidTranscripts(limits, (error) => {
    throw error;
  });

async function take(unpaid: UnpaidTranscripts, count: number): Promise<void> {
  for (let id = 0; id < count; id += 1) await unpaid.take(ACCOUNT, `r${id}`, signal);
}

describe('UnpaidTranscripts', () => {
  it('refuses the account after 20 that are not paid for, and remembers it', async () => {
    const unpaid = create();
    await take(unpaid, 20);
    unpaid.assertFew(ACCOUNT);
    for (let id = 0; id < 20; id += 1) await unpaid.end(ACCOUNT, `r${id}`, false);
    await expect(unpaid.take(ACCOUNT, 'r20', signal)).rejects.toMatchObject({
      code: 'too_many_failures',
      retryAfterSeconds: 4_320,
    });
    expect(() => unpaid.assertFew(ACCOUNT)).toThrow(expect.objectContaining({ code: 'too_many_failures' }));
    unpaid.assertFew(OTHER);
    await unpaid.take(OTHER, 'r0', signal);
  });

  it('those that are paid for do not count', async () => {
    const unpaid = create();
    for (let id = 0; id < 60; id += 1) {
      await unpaid.take(ACCOUNT, `r${id}`, signal);
      await unpaid.end(ACCOUNT, `r${id}`, true);
    }
    expect(() => unpaid.assertFew(ACCOUNT)).not.toThrow();
  });

  it('while 20 may still be paid for, the next one waits for them', async () => {
    const unpaid = create();
    await take(unpaid, 20);
    let isTaken = false;
    const next = unpaid.take(ACCOUNT, 'r20', signal).then(() => {
      isTaken = true;
    });
    await unpaid.end(ACCOUNT, 'r0', false);
    await nextTurn();
    expect(isTaken).toBe(false);
    await unpaid.end(ACCOUNT, 'r1', true);
    await next;
    const leaving = new AbortController();
    const left = unpaid.take(ACCOUNT, 'r21', leaving.signal);
    leaving.abort(new Error('the client left'));
    await expect(left).rejects.toThrow('the client left');
  });

  it('counts those of all servers together', async () => {
    const limits = new LocalLimits();
    await take(create(limits), 20);
    await expect(create(limits).take(ACCOUNT, 'other', signal)).rejects.toMatchObject({ code: 'too_many_failures' });
  });
});
