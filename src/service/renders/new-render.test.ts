import { describe, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../account/plans.ts';
import type { Caller } from '../account/caller.ts';
import type { ParsedRequest, UnfetchedRequest } from './parse.ts';
import { newRender } from './new-render.ts';

function maxRunning(plan: string, parsed: object): number {
  const caller = { accountId: 'a', mode: 'live', plan: DEFAULT_PLANS.get(plan), subscription: {} } as unknown as Caller;
  const parts = { parsed: { delivery: {}, request: { delivery: {} }, ...parsed } as ParsedRequest | UnfetchedRequest };
  return newRender(caller, 'r', parts).maxRunning;
}

describe('an accepted render', () => {
  it('an accepted render runs beside as many others of its account as the plan allows, but fetches at most 16 files at once', () => {
    const fetched = { assetUrl: new URL('https://files.example/a.jpg') };
    expect([maxRunning('business', {}), maxRunning('business', fetched)]).toEqual([64, 16]);
    expect([maxRunning('free', {}), maxRunning('free', fetched)]).toEqual([2, 2]);
  });
});
