import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import type { ErrorCode } from '../../shared/error-table.ts';
import type { ClaimedRender } from '../store/renders/render.ts';
import { parseForm } from '../../engine/caption/form.ts';
import { RenderRunner, type RenderRunnerDependencies } from './render-runner.ts';
import { storeRequest } from './stored-request.ts';

const HOUR_MS = 3_600_000;

function requestOf(values: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(values).map(([name, value]) => ({ name, value }));
  const form = { fields, isJson: true, hasAsset: false, asset: undefined, faults: [] };
  const { overlays: _overlays, ...request } = parseForm({ ...form, allowsSpeech: true });
  return storeRequest(request);
}

interface Attempt {
  readonly number?: number;
  readonly startedMsAgo?: number;
  readonly request?: string;
}

/** Runs one attempt, and returns the fate of the render. */
async function run(
  { number = 1, startedMsAgo = 0, request = requestOf({ text: 'a', width: 99, height: 99 }) }: Attempt,
  parts: object,
): Promise<string> {
  const startedAt = new Date(Date.now() - startedMsAgo);
  const render = { id: 'r', accountId: 'a', startedAt, createdAt: startedAt, request };
  const claims = [{ attempt: { renderId: 'r', number }, render } as unknown as ClaimedRender];
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
      metrics: { asyncEnded: () => undefined },
      logger: { info: log, warn: log, error: log },
      publicUrl: undefined,
      ...parts,
    } as unknown as RenderRunnerDependencies);
    runner.wake();
  });
}

async function outcomeOf(code: ErrorCode, number: number, startedMsAgo = 0): Promise<string> {
  const uploads = { reserve: async () => await Promise.reject(new AppError(code, 'Trouble.')) };
  return await run({ number, startedMsAgo }, { uploads });
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

it('an attempt parses its stored request once', async () => {
  const request = requestOf({ captions: 'auto', asset_url: 'https://files.example/a.mp4' });
  const parse = vi.spyOn(JSON, 'parse');
  const ended = await new Promise((resolve) => {
    void run(
      { request },
      {
        uploads: { reserve: async () => ({ release: () => undefined }) },
        accounts: { find: async () => ({ state: 'active', subscription: {} }) },
        plans: { find: () => ({}) },
        results: { assertRoom: async () => undefined },
        fetcher: { policy: { faultOf: () => ({ code: 'forbidden_address', detail: 'No longer allowed.' }) } },
        speechCaptions: { end: async (_caller: unknown, id: string) => resolve(id) },
      },
    );
  });
  expect(ended).toBe('r');
  expect(parse.mock.calls.filter(([text]) => text === request)).toHaveLength(1);
  parse.mockRestore();
});
