import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../../errors.ts';
import type { RenderFacts } from '../../../render/render.ts';
import type { VideoRecipe } from '../../../render/video-recipe.ts';
import { mayRenderWhole, type SegmentHost, SegmentedRender } from './segmented-render.ts';
import { RenderSession } from './session.ts';

const FACTS: RenderFacts = {
  width: 2,
  height: 2,
  bars: [{ top: 0, height: 1 }],
  missingGlyphs: 0,
  timings: { layout: 1 },
};
const LOST = new AppError('renderer_unavailable', 'lost');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-segments-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Sessions on paper: what each is to do now, and nobody there until the test says so. */
class Desk implements SegmentHost {
  readonly sessions: RenderSession[] = [];
  readonly ended: RenderSession[] = [];
  othersWait = false;
  permit: Promise<void> = Promise.resolve();
  readonly files = new Map<RenderSession, string>();
  readonly #numbers = new Map<RenderSession, number>();

  add(): RenderSession {
    const session = new RenderSession('video', undefined, {
      issue: async () => () => undefined,
      attemptToken: () => 'token',
      onClaimed: () => undefined,
      onLost: () => undefined,
    });
    this.sessions.push(session);
    return session;
  }

  async open(signal: AbortSignal): Promise<RenderSession> {
    signal.throwIfAborted();
    await this.permit;
    return this.add();
  }

  expect(session: RenderSession, file: string): void {
    this.files.set(session, file);
  }

  end(session: RenderSession): void {
    session.end();
    this.ended.push(session);
  }

  hasIdleWorker(): boolean {
    return false;
  }

  isCrowded(): boolean {
    return this.othersWait;
  }

  onHedged(): void {}

  /** A worker comes for the session's ticket. */
  attend(number: number): RenderSession {
    const session = this.sessions[number];
    if (session === undefined) throw new Error(`no session ${number}`);
    const joined = session.join(session.generation, false, { send: () => undefined, close: () => undefined });
    if (joined !== false) this.#numbers.set(session, joined.attempt);
    return session;
  }

  /** What the session's worker is at: the first frame of its segment, or `join`. */
  workOf(session: RenderSession): number | 'join' | undefined {
    const step = session.stepOf(this.#numbers.get(session) ?? -1)?.step;
    if (step?.type !== 'render' || step.recipe.kind !== 'video') return undefined;
    return step.recipe.piece?.type === 'segment' ? step.recipe.piece.segment.decodeFrom : 'join';
  }

  async finish(session: RenderSession): Promise<void> {
    await vi.waitFor(() => {
      if (this.workOf(session) === undefined) throw new Error('nothing to do');
    });
    writeFileSync(this.files.get(session) ?? '', 'bytes');
    session.succeed(this.#numbers.get(session) ?? -1, { ...FACTS, timings: { work: 2 } });
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

async function begin(segments: number, lanes: number, desk = new Desk()) {
  const caller = new AbortController();
  const job = {
    recipe: { kind: 'video', cuts: [] } as unknown as VideoRecipe,
    segments: Array.from({ length: segments }, (_, index) => ({
      from: index,
      to: index + 1,
      decodeFrom: index,
      decodeTo: null,
      frames: 1,
    })),
    asset: { format: 'mp4', bytes: 1 } as const,
    output: path.join(directory, 'output'),
    limitMs: 1_000,
    lanes,
    first: desk.add(),
  };
  const result = new SegmentedRender(job, desk, caller.signal).run();
  result.catch(() => undefined);
  await settled();
  return { desk, caller, result };
}

describe('a render in segments', () => {
  it('gives every worker one after the other, and the last to finish joins', async () => {
    const { desk, result } = await begin(3, 2);
    const [one, other] = [desk.attend(0), desk.attend(1)];
    await expect.poll(() => [desk.workOf(one), desk.workOf(other)]).toEqual([0, 1]);
    await desk.finish(one);
    await expect.poll(() => desk.workOf(one)).toBe(2);
    await desk.finish(other);
    await expect.poll(() => desk.ended).toEqual([other]);
    await desk.finish(one);
    await expect.poll(() => desk.workOf(one)).toBe('join');
    await desk.finish(one);
    expect(await result).toMatchObject({ bars: FACTS.bars, timings: { work: 2, encode: expect.any(Number) } });
    expect(desk.ended).toEqual([other, one]);
    expect(readdirSync(directory)).toEqual(['output']);
  });

  it('does not wait for a worker who never comes', async () => {
    const { desk, result } = await begin(2, 2);
    const only = desk.attend(0);
    await desk.finish(only);
    await expect.poll(() => desk.workOf(only)).toBe(1);
    expect(desk.sessions[1]?.isOver).toBe(true);
    await desk.finish(only);
    await desk.finish(only);
    expect(await result).toMatchObject({ width: 2 });
  });

  it('makes room for others who wait, but for one worker', async () => {
    const { desk, result } = await begin(4, 2);
    const [one, other] = [desk.attend(0), desk.attend(1)];
    desk.othersWait = true;
    await desk.finish(other);
    await expect.poll(() => desk.ended).toEqual([other]);
    for (const work of [0, 2, 3, 'join']) {
      await expect.poll(() => desk.workOf(one)).toBe(work);
      await desk.finish(one);
    }
    expect(await result).toMatchObject({ width: 2 });
  });

  it('leaves the segment of a lane that failed to the others', async () => {
    const { desk, result } = await begin(2, 2);
    const [one, other] = [desk.attend(0), desk.attend(1)];
    other.fail(LOST);
    await settled();
    await desk.finish(one);
    await expect.poll(() => desk.workOf(one)).toBe(1);
    await desk.finish(one);
    await desk.finish(one);
    expect(await result).toMatchObject({ width: 2 });
  });

  it('is not troubled by a lane that never got its turn', async () => {
    const desk = new Desk();
    let refuse: (reason: unknown) => void = () => undefined;
    desk.permit = new Promise<void>((_resolve, reject) => (refuse = reject));
    const { result } = await begin(2, 2, desk);
    const only = desk.attend(0);
    await desk.finish(only);
    await desk.finish(only);
    await expect.poll(() => desk.workOf(only)).toBe('join');
    refuse(LOST);
    await settled();
    await desk.finish(only);
    expect(await result).toMatchObject({ width: 2 });
  });

  it('fails when nobody is left, such that the whole may be tried', async () => {
    const { desk, result } = await begin(2, 2);
    for (const session of [desk.attend(0), desk.attend(1)]) session.fail(LOST);
    await expect(result).rejects.toBe(LOST);
    expect(mayRenderWhole(LOST)).toBe(true);
    expect(mayRenderWhole(new Error('a cut that was none'))).toBe(true);
    expect(desk.ended).toHaveLength(2);
  });

  it('fails at once for an asset that cannot be rendered', async () => {
    const { desk, result } = await begin(3, 2);
    const bad = new AppError('asset_undecodable', 'broken');
    const other = desk.attend(1);
    desk.attend(0).fail(bad);
    await expect(result).rejects.toBe(bad);
    expect(other.isOver).toBe(true);
    expect(mayRenderWhole(bad)).toBe(false);
  });

  it('leaves nothing when the caller does', async () => {
    const { desk, caller, result } = await begin(4, 2);
    const [one, other] = [desk.attend(0), desk.attend(1)];
    await desk.finish(one);
    caller.abort(new Error('gone'));
    await expect(result).rejects.toThrow('gone');
    expect([one.isOver, other.isOver]).toEqual([true, true]);
    expect(readdirSync(directory)).toEqual([]);
  });
});
