import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../../errors.ts';
import { workOf } from '../../../media/video/segments/work.ts';
import { must } from '../../../primitives/must.ts';
import type { RenderFacts } from '../../../render/render.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../../render/video-recipe.ts';
import { VIDEO_PROBE } from '../../../../test/dispatch/sample-reports.ts';
import { mayRenderWhole, type SegmentHost, SegmentedRender } from './segmented-render.ts';
import { RenderSession } from '../api-server/session.ts';

const FACTS: RenderFacts = {
  width: 2,
  height: 2,
  bars: [{ top: 0, height: 1 }],
  missingGlyphs: 0,
  warnings: [],
  timings: { layout: 1 },
};
const LOST = new AppError('renderer_unavailable', 'lost');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-segments-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Opens sessions whose workers connect and finish when the test says so. */
class FakeHost implements SegmentHost {
  readonly sessions: RenderSession[] = [];
  readonly closed: RenderSession[] = [];
  othersWait = false;
  permit: Promise<void> = Promise.resolve();
  readonly files = new Map<RenderSession, string>();
  readonly #attempts = new Map<RenderSession, number>();

  add(): RenderSession {
    const session = new RenderSession('video', undefined, {
      issue: async () => () => undefined,
      attemptToken: () => 'token',
      onClaimed: () => undefined,
      onAttemptLost: () => undefined,
    });
    this.sessions.push(session);
    return session;
  }

  async open(signal: AbortSignal): Promise<RenderSession> {
    signal.throwIfAborted();
    await this.permit;
    return this.add();
  }

  expectOutput(session: RenderSession, file: string): void {
    this.files.set(session, file);
  }

  close(session: RenderSession): void {
    session.close();
    this.closed.push(session);
  }

  hasIdleWorker(): boolean {
    return false;
  }

  isCrowded(): boolean {
    return this.othersWait;
  }

  onHedged(): void {}

  /** A worker claims the session's ticket. */
  connect(index: number): RenderSession {
    const session = must(this.sessions[index], `session ${index}`);
    const attempt = session.claim(session.generation, false, { send: () => undefined, close: () => undefined });
    if (attempt !== undefined) this.#attempts.set(session, attempt);
    return session;
  }

  /** Returns the work of the session's worker: the index of its segment, or `join`. */
  workOf(session: RenderSession): number | 'join' | undefined {
    const step = session.stepOf(this.#attempts.get(session) ?? -1)?.step;
    if (step?.type !== 'render' || step.recipe.kind !== 'video') return undefined;
    const work = workOf(must(step.recipe.piece, 'the piece'));
    return work.type === 'segment' ? work.segment.decodeFrom : 'join';
  }

  /** Reports how much of its work the session's worker has done. */
  report(session: RenderSession, fraction: number): void {
    session.stepOf(must(this.#attempts.get(session), 'the attempt'))?.onProgress?.(fraction);
  }

  async finish(session: RenderSession): Promise<void> {
    const hasWork = (): void => {
      if (this.workOf(session) === undefined) throw new Error('nothing to do');
    };
    await vi.waitFor(hasWork, { timeout: 60_000 });
    writeFileSync(must(this.files.get(session), 'the output'), 'bytes');
    session.completeRender(must(this.#attempts.get(session), 'the attempt'), { ...FACTS, timings: { work: 2 } });
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

async function begin(segments: number, lanes: number, host = new FakeHost(), onProgress?: (fraction: number) => void) {
  const caller = new AbortController();
  const job = {
    recipe: composeVideoRecipe(VIDEO_PROBE, [], DEFAULT_VIDEO_LIMITS),
    segments: Array.from({ length: segments }, (_, index) => ({
      from: index,
      to: index + 1,
      decodeFrom: index,
      decodeTo: null,
      frames: 1,
    })),
    asset: { format: 'mp4', bytes: 1 } as const,
    files: [],
    output: path.join(directory, 'output'),
    limitMs: 1_000,
    lanes,
    first: host.add(),
    onProgress,
  };
  const result = new SegmentedRender(job, host, caller.signal).run();
  result.catch(() => undefined);
  await settled();
  return { host, caller, result };
}

describe('SegmentedRender', () => {
  it('gives each worker one segment after the other and lets the last to finish join them', async () => {
    const { host, result } = await begin(3, 2);
    const [one, other] = [host.connect(0), host.connect(1)];
    await expect.poll(() => [host.workOf(one), host.workOf(other)]).toEqual([0, 1]);
    await host.finish(one);
    await expect.poll(() => host.workOf(one)).toBe(2);
    await host.finish(other);
    await expect.poll(() => host.closed).toEqual([other]);
    await host.finish(one);
    await expect.poll(() => host.workOf(one)).toBe('join');
    await host.finish(one);
    expect(await result).toMatchObject({ bars: FACTS.bars, timings: { work: 2, encode: expect.any(Number) } });
    expect(host.closed).toEqual([other, one]);
    expect(readdirSync(directory)).toEqual(['output']);
  });

  it('adds up the progress of all segments, and counts the further one of two workers on the same segment', async () => {
    const fractions: number[] = [];
    const { host, result } = await begin(2, 2, new FakeHost(), (fraction) => fractions.push(fraction));
    const [one, other] = [host.connect(0), host.connect(1)];
    await expect.poll(() => [host.workOf(one), host.workOf(other)]).toEqual([0, 1]);
    host.report(one, 0.5);
    host.report(other, 0.5);
    host.report(one, 0.25);
    await host.finish(one);
    await host.finish(other);
    expect(fractions).toEqual([0.25, 0.5, 0.5, 0.75, 1]);
    await expect.poll(() => host.workOf(other)).toBe('join');
    await host.finish(other);
    await result;
  });

  it('does not wait for a worker that never claims its ticket', async () => {
    const { host, result } = await begin(2, 2);
    const only = host.connect(0);
    await host.finish(only);
    await expect.poll(() => host.workOf(only)).toBe(1);
    expect(host.sessions[1]?.isClosed).toBe(true);
    await host.finish(only);
    await host.finish(only);
    expect(await result).toMatchObject({ width: 2 });
  });

  it('gives up all workers but one while other videos wait', async () => {
    const { host, result } = await begin(4, 2);
    const [one, other] = [host.connect(0), host.connect(1)];
    host.othersWait = true;
    await host.finish(other);
    await expect.poll(() => host.closed).toEqual([other]);
    for (const work of [0, 2, 3, 'join']) {
      await expect.poll(() => host.workOf(one)).toBe(work);
      await host.finish(one);
    }
    expect(await result).toMatchObject({ width: 2 });
  });

  it('renders the segment of a failed lane on another one', async () => {
    const { host, result } = await begin(2, 2);
    const [one, other] = [host.connect(0), host.connect(1)];
    other.fail(LOST);
    await settled();
    await host.finish(one);
    await expect.poll(() => host.workOf(one)).toBe(1);
    await host.finish(one);
    await host.finish(one);
    expect(await result).toMatchObject({ width: 2 });
  });

  it('succeeds although a lane never got a permit', async () => {
    const host = new FakeHost();
    let refuse: (reason: unknown) => void = () => undefined;
    host.permit = new Promise<void>((_resolve, reject) => (refuse = reject));
    const { result } = await begin(2, 2, host);
    const only = host.connect(0);
    await host.finish(only);
    await host.finish(only);
    await expect.poll(() => host.workOf(only)).toBe('join');
    refuse(LOST);
    await settled();
    await host.finish(only);
    expect(await result).toMatchObject({ width: 2 });
  });

  it('fails when no lane is left, with an error that allows rendering the video whole', async () => {
    const { host, result } = await begin(2, 2);
    for (const session of [host.connect(0), host.connect(1)]) session.fail(LOST);
    await expect(result).rejects.toBe(LOST);
    expect(mayRenderWhole(LOST)).toBe(true);
    expect(mayRenderWhole(new Error('unusable cut'))).toBe(true);
    expect(host.closed).toHaveLength(2);
  });

  it('fails immediately for an asset that cannot be rendered', async () => {
    const { host, result } = await begin(3, 2);
    const bad = new AppError('asset_undecodable', 'broken');
    const other = host.connect(1);
    host.connect(0).fail(bad);
    await expect(result).rejects.toBe(bad);
    expect(other.isClosed).toBe(true);
    expect(mayRenderWhole(bad)).toBe(false);
  });

  it('leaves no session and no file behind when the client leaves', async () => {
    const { host, caller, result } = await begin(4, 2);
    const [one, other] = [host.connect(0), host.connect(1)];
    await host.finish(one);
    caller.abort(new Error('gone'));
    await expect(result).rejects.toThrow('gone');
    expect([one.isClosed, other.isClosed]).toEqual([true, true]);
    expect(readdirSync(directory)).toEqual([]);
  });
});
