import { describe, expect, it } from 'vitest';
import type { RenderFacts } from '../../../../engine/render/render.ts';
import type { ControlMessage } from '../shared/control-messages.ts';
import { QueueUnavailable } from '../shared/queue-unavailable.ts';
import { type ControlStreamWriter, MAX_ATTEMPTS, RenderSession, type TicketIssuer } from './session.ts';

const never = new AbortController().signal;
const PROBE = {
  step: {
    type: 'probe',
    asset: { format: 'png', bytes: 1 },
    limits: { imagePixels: 1, videoSeconds: 1, videoSide: 1, videoFps: 1 },
  },
  limitMs: 1_000,
} as const;
const RENDER = {
  step: {
    type: 'render',
    asset: undefined,
    recipe: {
      kind: 'transparent',
      canvas: { width: 1, height: 1 },
      overlays: [],
      output: { format: 'png' },
    },
  },
  limitMs: 1_000,
} as const;

/** Returns facts that can be told apart. */
const factsOf = (missingGlyphs: number): RenderFacts => ({
  width: 1,
  height: 1,
  bars: [],
  missingGlyphs,
  warnings: [],
  timings: {},
});

class FakeStream implements ControlStreamWriter {
  readonly worker: string | undefined;
  readonly messages: ControlMessage[] = [];
  isClosed = false;
  constructor(worker?: string) {
    this.worker = worker;
  }
  send(message: ControlMessage): void {
    this.messages.push(message);
  }
  close(): void {
    this.isClosed = true;
  }
}

/** Opens a session and logs the events of its tickets. */
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
    onClaimed: (_session, { isFirst }) => isFirst && log.push('claimed'),
    onAttemptLost: (_session, { worker, reason }) => log.push(`${worker ?? 'unnamed'} lost: ${reason}`),
  });
  return { session, log };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('RenderSession', () => {
  it('issues a ticket, sends the step to the worker that claims it and resolves with the result', async () => {
    const { session, log } = open();
    const result = session.render(RENDER, never);
    const stream = new FakeStream();
    expect(session.isWaiting).toBe(true);
    expect(session.claim(1, false, stream)).toBe(1);
    expect(stream.messages).toEqual([{ type: 'step', attempt: 1, token: 'token 1', step: RENDER.step }]);
    expect(session.completeRender(1, factsOf(7))).toBe(true);
    expect(await result).toEqual(factsOf(7));
    expect(log).toEqual(['ticket 1', 'claimed']);
    session.close();
    expect(stream.isClosed).toBe(true);
  });

  it('sends the next step to the connected worker without another ticket', async () => {
    const { session, log } = open();
    const first = session.probe(PROBE, never);
    const stream = new FakeStream();
    session.claim(1, false, stream);
    const probe = { kind: 'image', width: 1, height: 1, isSrgb: true } as const;
    session.completeProbe(1, probe);
    expect(await first).toEqual(probe);
    const second = session.render(RENDER, never);
    expect(stream.messages).toHaveLength(2);
    session.completeRender(1, factsOf(2));
    expect(await second).toEqual(factsOf(2));
    expect(log).toEqual(['ticket 1', 'claimed']);
    session.close();
  });

  it('does not take the result of another kind of step', async () => {
    const { session } = open();
    const result = session.render(RENDER, never);
    session.claim(1, false, new FakeStream());
    expect(session.completeProbe(1, { kind: 'image', width: 1, height: 1, isSrgb: true })).toBe(false);
    expect(session.completeRender(1, factsOf(1))).toBe(true);
    expect(await result).toEqual(factsOf(1));
    session.close();
  });

  it('issues another ticket when a worker is lost and rejects the old one', async () => {
    const { session, log } = open();
    const result = session.render(RENDER, never);
    session.claim(1, false, new FakeStream('a'));
    session.loseAttempt(1, 'broke');
    expect(session.claim(1, true, new FakeStream())).toBeUndefined();
    expect(session.claim(2, false, new FakeStream())).toBe(2);
    expect(session.completeRender(1, factsOf(1))).toBe(false);
    session.completeRender(2, factsOf(2));
    expect(await result).toEqual(factsOf(2));
    expect(log).toEqual(['ticket 1', 'claimed', 'a lost: broke', 'ticket 2']);
    session.close();
  });

  it('accepts a redelivered ticket beside the first worker, takes the first result and stops the other', async () => {
    const { session } = open();
    const result = session.render(RENDER, never);
    const [first, second, third] = [new FakeStream(), new FakeStream(), new FakeStream()];
    session.claim(1, false, first);
    expect(session.claim(1, false, third)).toBeUndefined();
    expect(session.claim(1, true, second)).toBe(2);
    expect(session.completeRender(2, factsOf(2))).toBe(true);
    expect(session.completeRender(1, factsOf(1))).toBe(false);
    expect(await result).toEqual(factsOf(2));
    expect([first.isClosed, second.isClosed]).toEqual([true, false]);
    session.close();
  });

  it('fails after as many attempts as NATS makes deliveries', async () => {
    const { session } = open();
    const result = session.render(RENDER, never);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      expect(session.claim(attempt, false, new FakeStream())).toBe(attempt);
      session.loseAttempt(attempt, 'broke');
    }
    await expect(result).rejects.toMatchObject({ code: 'renderer_unavailable', retryAfterSeconds: 2 });
    expect(session.isClosed).toBe(true);
  });

  it('withdraws its ticket and stops its workers when the client leaves', async () => {
    const waiting = open();
    const client = new AbortController();
    const result = waiting.session.render(RENDER, client.signal);
    await settled();
    client.abort(new Error('gone'));
    await expect(result).rejects.toThrow('gone');
    expect(waiting.log).toEqual(['ticket 1', 'withdrawn 1']);
    expect(waiting.session.claim(1, false, new FakeStream())).toBeUndefined();

    const claimed = open();
    const otherClient = new AbortController();
    const rendering = claimed.session.render(RENDER, otherClient.signal);
    const stream = new FakeStream();
    claimed.session.claim(1, false, stream);
    otherClient.abort(new Error('gone'));
    await expect(rendering).rejects.toThrow('gone');
    expect(stream.isClosed).toBe(true);
    expect(claimed.log).toEqual(['ticket 1', 'claimed']);
  });

  it('withdraws a ticket that was published only after the client had left', async () => {
    let publish: ((withdraw: () => void) => void) | undefined;
    const { session } = open(async () => await new Promise((resolve) => (publish = resolve)));
    const client = new AbortController();
    const result = session.render(RENDER, client.signal);
    client.abort(new Error('gone'));
    await expect(result).rejects.toThrow('gone');
    const withdrawn = new Promise<string>((resolve) => publish?.(() => resolve('withdrawn')));
    expect(await withdrawn).toBe('withdrawn');
  });

  it('fails when no ticket can be issued', async () => {
    const { session } = open(async () => await Promise.reject(new QueueUnavailable('no broker')));
    await expect(session.render(RENDER, never)).rejects.toThrow('no broker');
    expect(session.isClosed).toBe(true);
  });

  it('issues another ticket when its worker has fallen silent, and takes the first result', async () => {
    const { session, log } = open();
    const result = session.render(RENDER, never);
    const [silent, second] = [new FakeStream('silent'), new FakeStream('second')];
    session.claim(1, false, silent);
    session.replaceSilentWorkers(() => false);
    expect(session.claim(2, false, second)).toBeUndefined();
    for (let time = 0; time < 3; time += 1) session.replaceSilentWorkers((worker) => worker === 'silent');
    expect(session.claim(1, false, new FakeStream())).toBeUndefined();
    expect(session.claim(2, false, second)).toBe(2);
    expect(session.claim(2, false, new FakeStream())).toBeUndefined();
    // A silent worker isn't necessarily dead. It may still finish first.
    expect(session.completeRender(1, factsOf(1))).toBe(true);
    expect([await result, second.isClosed, silent.isClosed]).toEqual([factsOf(1), true, false]);
    expect(log).toEqual(['ticket 1', 'claimed', 'ticket 2']);
    session.close();
  });
});
