import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../account/plans.ts';
import { SqliteEngine } from '../store/sqlite-engine.ts';
import { createStore, type Store } from '../store/store.ts';
import { ManualBilling } from './manual.ts';

let directory: string;
let store: Store;
let billing: ManualBilling;
let now: Date;

beforeEach(async () => {
  now = new Date('2026-03-10T00:00:00Z');
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-manual-'));
  store = createStore(new SqliteEngine(path.join(directory, 'storybar.db')), () => now);
  billing = new ManualBilling(store, DEFAULT_PLANS);
  await store.accounts.create({ id: 'a', name: 'Ada' }, 'system');
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const assign = async (plan: string) => await store.accounts.subscribe('a', plan, 'now', 'cli:operator');
const subscription = async () => (await store.accounts.find('a'))?.subscription;

describe('ManualBilling', () => {
  it('grants a free plan, and from the next period if the operator had assigned a paid one', async () => {
    expect(billing.takesPayments).toBe(false);
    expect(await billing.choosePlan('a', 'free')).toEqual({ kind: 'granted', when: 'now' });
    await assign('business');
    expect(await billing.choosePlan('a', 'free')).toEqual({ kind: 'granted', when: 'next period' });
    expect(await subscription()).toMatchObject({ plan: 'business', nextPlan: 'free' });
    now = new Date('2026-04-11T00:00:00Z');
    expect(await subscription()).toMatchObject({ plan: 'free', nextPlan: null, status: 'active' });
  });

  it('refuses to grant a plan that has a price', async () => {
    for (const plan of ['starter', 'pro', 'business']) {
      await expect(billing.choosePlan('a', plan)).rejects.toMatchObject({ code: 'invalid_fields' });
    }
    expect(await subscription()).toBeUndefined();
    await billing.choosePlan('a', 'free');
    await expect(billing.choosePlan('a', 'pro')).rejects.toThrow('Ask the operator for the plan Pro.');
    expect(await subscription()).toMatchObject({ plan: 'free', nextPlan: null });
  });

  it('takes back a cancellation of a free plan before the period ends', async () => {
    await billing.choosePlan('a', 'free');
    await billing.cancel('a');
    expect(await subscription()).toMatchObject({ renews: false });
    await billing.resume('a');
    expect(await subscription()).toMatchObject({ plan: 'free', nextPlan: null, renews: true });
  });

  it('does not let a customer continue a paid plan that was canceled', async () => {
    await assign('pro');
    await store.accounts.setRenews('a', false, 'cli:operator');
    await expect(billing.resume('a')).rejects.toMatchObject({ code: 'invalid_fields' });
    expect(await subscription()).toMatchObject({ plan: 'pro', renews: false });
  });

  it('ends a canceled plan with its period, and a free plan can be chosen again', async () => {
    await assign('pro');
    await billing.cancel('a');
    now = new Date('2026-04-11T00:00:00Z');
    expect(await subscription()).toMatchObject({ status: 'inactive' });
    await expect(billing.resume('a')).rejects.toMatchObject({ code: 'subscription_inactive' });
    expect(await billing.choosePlan('a', 'free')).toEqual({ kind: 'granted', when: 'now' });
    expect(await subscription()).toMatchObject({ plan: 'free', status: 'active' });
  });

  it('has no payment page, accepts no events and knows no other plans', async () => {
    await expect(billing.choosePlan('a', 'gold')).rejects.toMatchObject({ code: 'not_found' });
    expect(await billing.manage()).toBeUndefined();
    await expect(billing.receive()).rejects.toMatchObject({ code: 'not_found' });
    expect(await billing.reconcile()).toEqual({ checked: 0, failed: 0 });
  });
});
