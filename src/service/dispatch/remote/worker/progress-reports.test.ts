import { describe, expect, it } from 'vitest';
import { ProgressReports } from './progress-reports.ts';

describe('ProgressReports', () => {
  it('sends one report at a time, and of those that wait only the newest', async () => {
    const sent: number[] = [];
    const arrivals: (() => void)[] = [];
    const reports = new ProgressReports(async (fraction) => {
      sent.push(fraction);
      await new Promise<void>((resolve) => arrivals.push(resolve));
    });
    for (const fraction of [0.1, 0.2, 0.3]) reports.report(fraction);
    expect(sent).toEqual([0.1]);
    arrivals.shift()?.();
    await expect.poll(() => sent).toEqual([0.1, 0.3]);
    reports.report(0.4);
    const end = reports.end();
    arrivals.shift()?.();
    await end;
    expect(sent).toEqual([0.1, 0.3]);
  });

  it('goes on after a report that could not be delivered', async () => {
    const sent: number[] = [];
    const reports = new ProgressReports(async (fraction) => {
      sent.push(fraction);
      throw new Error('unreachable');
    });
    reports.report(0.1);
    await reports.end();
    reports.report(0.2);
    await reports.end();
    expect(sent).toEqual([0.1, 0.2]);
  });
});
