import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import type { ErrorCode } from '../error-table.ts';
import type { ClaimedRender } from '../store/renders/render.ts';
import { RenderRunner, type RenderRunnerDependencies } from './render-runner.ts';

const HOUR_MS = 3_600_000;

/** Runs one attempt that fails with this code, and returns the fate of the render. */
async function outcomeOf(code: ErrorCode, attempt: number, startedMsAgo = 0): Promise<string> {
  const startedAt = new Date(Date.now() - startedMsAgo);
  const claim = { attempt: { renderId: 'r', number: attempt }, render: { id: 'r', accountId: 'a', startedAt } };
  const claims = [claim as unknown as ClaimedRender];
  return await new Promise((resolve) => {
    const log = (): void => undefined;
    const runner = new RenderRunner({
      renders: {
        claim: async () => await Promise.resolve(claims.shift()),
        giveBack: async () => resolve('tried again'),
        fail: async () => resolve('failed'),
      },
      renderer: { status: () => ({ images: { ready: 1 }, videos: { ready: 1 } }) },
      workArea: { lazyDirectory: () => ({ remove: async () => undefined }) },
      uploads: { reserve: async () => await Promise.reject(new AppError(code, 'Trouble.')) },
      logger: { info: log, warn: log, error: log },
      publicUrl: undefined,
    } as unknown as RenderRunnerDependencies);
    runner.wake();
  });
}

describe('a render that fails', () => {
  it('a render is retried after a temporary failure, but only a few times when its worker is lost', async () => {
    expect(await outcomeOf('renderer_unavailable', 1)).toBe('tried again');
    expect(await outcomeOf('renderer_unavailable', 20)).toBe('failed');
    expect(await outcomeOf('asset_undecodable', 1)).toBe('failed');
  });

  it('a render waits for unavailable storage as long as its deadline allows', async () => {
    expect(await outcomeOf('storage_unavailable', 200)).toBe('tried again');
    expect(await outcomeOf('storage_unavailable', 200, HOUR_MS + 1_000)).toBe('failed');
  });
});
