import { describe, expect, it } from 'vitest';
import { QueueUnavailable } from '../shared/queue-unavailable.ts';
import { type ControlStream, MAX_ATTEMPTS, RenderSession, type TicketIssuer } from './session.ts';
import type { ControlMessage } from '../shared/wire.ts';

const never = new AbortController().signal;
const errand = {
  step: {
    type: 'render',
    asset: undefined,
    recipe: { kind: 'transparent', canvas: { width: 1, height: 1 }, overlays: [], attemptMs: 1_000 },
  },
  limitMs: 1_000,
} as const;

class Worker implements ControlStream {
  readonly worker: string | undefined;
  readonly lines: ControlMessage[] = [];
  constructor(worker?: string) {
    this.worker = worker;
  }
  isClosed = false;
  send(line: ControlMessage): void {
    this.lines.push(line);
  }
  close(): void {
    this.isClosed = true;
  }
}

/** A session, and what its tickets went through. */
function open(issue?: TicketIssuer['issue']) {
  const log: string[] = [];
  const session: RenderSession = new RenderSession('image', undefined, {
    issue:
      issue ??
      (async ({ generation }) => {
        log.push(`ticket ${generation}`);
        return () => log.push(`withdrawn ${generation}`);
      }),
    attemptToken: (_session, attempt) => `token ${attempt}`,
    onClaimed: () => log.push('claimed'),
    onLost: (_session, reason) => log.push(`lost: ${reason}`),
  });
  return { session, log };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a session', () => {
  it('calls for a worker, tells it what to do and gives back what it did', async () => {
    const { session, log } = open();
    const result = session.perform<string>(errand, never);
    const worker = new Worker();
    expect(session.isWaiting).toBe(true);
    expect(session.join(1, false, worker)).toEqual({ attempt: 1 });
    expect(worker.lines).toEqual([{ type: 'step', attempt: 1, token: 'token 1', step: errand.step }]);
    expect(session.succeed(1, 'done')).toBe(true);
    expect(await result).toBe('done');
    expect(log).toEqual(['ticket 1', 'claimed']);
    session.end();
    expect(worker.isClosed).toBe(true);
  });

  it('gives the next step to the worker that is there, without a ticket', async () => {
    const { session, log } = open();
    const first = session.perform(errand, never);
    const worker = new Worker();
    session.join(1, false, worker);
    session.succeed(1, 'probe');
    await first;
    expect(session.isAttended).toBe(true);
    const second = session.perform(errand, never);
    expect(worker.lines).toHaveLength(2);
    session.succeed(1, 'render');
    expect(await second).toBe('render');
    expect(log).toEqual(['ticket 1', 'claimed']);
    session.end();
  });

  it('hands the work out again when a worker is lost, and refuses its old ticket', async () => {
    const { session, log } = open();
    const result = session.perform<string>(errand, never);
    session.join(1, false, new Worker());
    session.lose(1, 'broke');
    expect(session.join(1, true, new Worker())).toBe(false);
    expect(session.join(2, false, new Worker())).toEqual({ attempt: 2 });
    expect(session.succeed(1, 'late')).toBe(false);
    session.succeed(2, 'good');
    expect(await result).toBe('good');
    expect(log).toEqual(['ticket 1', 'claimed', 'lost: broke', 'ticket 2']);
    session.end();
  });

  it('lets a redelivered ticket in beside a silent worker; the first result counts, the other is stopped', async () => {
    const { session } = open();
    const result = session.perform<string>(errand, never);
    const [silent, other, uninvited] = [new Worker(), new Worker(), new Worker()];
    session.join(1, false, silent);
    expect(session.join(1, false, uninvited)).toBe(false);
    expect(session.join(1, true, other)).toEqual({ attempt: 2 });
    expect(session.succeed(2, 'second')).toBe(true);
    expect(session.succeed(1, 'first')).toBe(false);
    expect(await result).toBe('second');
    expect([silent.isClosed, other.isClosed]).toEqual([true, false]);
    session.end();
  });

  it('gives up after as many attempts as the broker makes deliveries', async () => {
    const { session } = open();
    const result = session.perform(errand, never);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      expect(session.join(attempt, false, new Worker())).toEqual({ attempt });
      session.lose(attempt, 'broke');
    }
    await expect(result).rejects.toMatchObject({ code: 'renderer_unavailable', retryAfterSeconds: 2 });
    expect(session.isOver).toBe(true);
  });

  it('takes its ticket off the queue and stops its workers when the caller leaves', async () => {
    const waiting = open();
    const leaver = new AbortController();
    const result = waiting.session.perform(errand, leaver.signal);
    await settled();
    leaver.abort(new Error('gone'));
    await expect(result).rejects.toThrow('gone');
    expect(waiting.log).toEqual(['ticket 1', 'withdrawn 1']);
    expect(waiting.session.join(1, false, new Worker())).toBe(false);

    const taken = open();
    const caller = new AbortController();
    const taking = taken.session.perform(errand, caller.signal);
    const worker = new Worker();
    taken.session.join(1, false, worker);
    caller.abort(new Error('gone'));
    await expect(taking).rejects.toThrow('gone');
    expect(worker.isClosed).toBe(true);
    expect(taken.log).toEqual(['ticket 1', 'claimed']);
  });

  it('takes a ticket back that was put there only after the caller had left', async () => {
    let put: ((withdraw: () => void) => void) | undefined;
    const { session } = open(async () => await new Promise((resolve) => (put = resolve)));
    const leaver = new AbortController();
    const result = session.perform(errand, leaver.signal);
    leaver.abort(new Error('gone'));
    await expect(result).rejects.toThrow('gone');
    const withdrawn = new Promise<string>((resolve) => put?.(() => resolve('withdrawn')));
    expect(await withdrawn).toBe('withdrawn');
  });

  it('fails when no ticket can be issued', async () => {
    const { session } = open(async () => await Promise.reject(new QueueUnavailable('no broker')));
    await expect(session.perform(errand, never)).rejects.toThrow('no broker');
    expect(session.isOver).toBe(true);
  });

  it('calls another when whoever is at it has fallen silent, and takes the first result', async () => {
    const { session, log } = open();
    const result = session.perform<string>(errand, never);
    const [silent, helper] = [new Worker('silent'), new Worker('helper')];
    session.join(1, false, silent);
    session.callForHelp(() => false);
    expect(session.join(2, false, helper)).toBe(false);
    for (let time = 0; time < 3; time += 1) session.callForHelp((worker) => worker === 'silent');
    expect(session.join(1, false, new Worker())).toBe(false);
    expect(session.join(2, false, helper)).toEqual({ attempt: 2 });
    // One who never said his name is not missed.
    expect(session.join(2, false, new Worker())).toBe(false);
    // Silent, but not dead: he may be first all the same.
    expect(session.succeed(1, 'from the silent')).toBe(true);
    expect([await result, helper.isClosed, silent.isClosed]).toEqual(['from the silent', true, false]);
    expect(log).toEqual(['ticket 1', 'claimed', 'ticket 2']);
    session.end();
  });
});
