import { describe, expect, it } from 'vitest';
import type { Caller } from '../account/caller.ts';
import type { PlanLimits } from '../account/plans.ts';
import { accountOrder, type AccountServices } from './account-order.ts';
import type { ParsedRequest } from './parse.ts';

const LIMITS = { videoSeconds: 60, videoSide: 4_096, videoFps: 60, storedBytes: 50_000_000 } as PlanLimits;

function composed(outputBytes: number, isLink: boolean): string {
  const services = { outputBytes } as AccountServices;
  const clip = { seconds: 10, fps: 30 };
  const canvas = { kind: 'canvas', width: 1_080, height: 1_920 } as const;
  const parsed = { overlays: [], output: { format: 'mov', clip }, canvas, delivery: { isLink } };
  const caller = { mode: 'live', plan: { limits: LIMITS } } as Caller;
  const paying = { renderId: 'r1', caller, limits: LIMITS, isReplay: false };
  return accountOrder(services, parsed as unknown as ParsedRequest, paying).compose(canvas).kind;
}

describe('accountOrder', () => {
  it('the estimated size of a transparent video is limited by what a worker may write', () => {
    expect(composed(400_000_000, false)).toBe('clip');
    expect(() => composed(300_000_000, false)).toThrow('The video would be 311040000 bytes large, as estimated');
  });

  it('the estimated size of a transparent video is limited by what the plan stores if the result is stored', () => {
    expect(() => composed(400_000_000, true)).toThrow('the limit is 50000000');
  });
});
