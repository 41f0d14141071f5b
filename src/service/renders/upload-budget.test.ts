import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { UploadBudget } from './upload-budget.ts';

const MB = 1_000_000;
const budgetOf = (bytes: number): UploadBudget => new UploadBudget(tmpdir(), { maxBytes: bytes, maxSeconds: 300 });

describe('UploadBudget', () => {
  it('refuses an announced upload that exceeds the budget together with the others', async () => {
    const budget = budgetOf(100 * MB);
    await budget.reserve(80 * MB);
    await expect(budget.reserve(30 * MB)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(budget.reservedBytes).toBe(80 * MB);
  });

  it('lets a single upload exceed the budget', async () => {
    const budget = budgetOf(10 * MB);
    const only = await budget.reserve(undefined);
    only.grow(50 * MB);
    expect(budget.reservedBytes).toBeGreaterThanOrEqual(50 * MB);
  });

  it('never lets uploads of unknown size exceed the budget together', async () => {
    const budget = budgetOf(100 * MB);
    const uploads = await Promise.all([1, 2, 3].map(async () => await budget.reserve(undefined)));
    const accepted = new Map(uploads.map((upload) => [upload, 0]));
    const codes = new Set<string>();
    for (let received = MB; received <= 200 * MB; received += MB) {
      for (const upload of uploads) {
        try {
          upload.grow(received);
          if (accepted.get(upload) === received - MB) accepted.set(upload, received);
        } catch (error) {
          codes.add(error instanceof AppError ? error.code : String(error));
        }
      }
    }
    expect([...codes]).toEqual(['storage_unavailable']);
    const total = [...accepted.values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(total).toBeGreaterThan(80 * MB);
    expect(total).toBeLessThanOrEqual(100 * MB);
    expect(budget.reservedBytes).toBeLessThanOrEqual(100 * MB);
  });

  it('counts results, and returns everything once', async () => {
    const budget = budgetOf(100 * MB);
    const first = await budget.reserve(MB);
    first.addResult(99 * MB);
    await expect(budget.reserve(MB)).rejects.toMatchObject({ code: 'storage_unavailable' });
    first.release();
    first.release();
    expect(budget.reservedBytes).toBe(0);
  });

  it('ignores a result that is finished after the client has left', async () => {
    const budget = budgetOf(100 * MB);
    const reservation = await budget.reserve(MB);
    reservation.release();
    reservation.addResult(50 * MB);
    reservation.grow(20 * MB);
    expect(budget.reservedBytes).toBe(0);
  });
});
