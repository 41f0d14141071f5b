import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DEFAULT_PLANS, type PlanBook, PlansError, parsePlans } from '../service/account/plans.ts';
import { type Settings, SettingsError } from '../service/config/settings.ts';
import { hasCode, messageOf } from '../shared/error-facts.ts';

const DEFAULT_FILE = 'plans.json';

/** Throws a `SettingsError` that lists every fault of the file. */
export function loadPlans({ plansFile }: Pick<Settings, 'plansFile'>): PlanBook {
  const file = plansFile === '' ? path.resolve(DEFAULT_FILE) : plansFile;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (plansFile === '' && hasCode(error, 'ENOENT')) return DEFAULT_PLANS;
    throw new SettingsError([`STORYBAR_PLANS: ${file} cannot be read: ${messageOf(error)}`]);
  }
  try {
    return parsePlans(JSON.parse(text));
  } catch (error) {
    const faults = error instanceof PlansError ? error.faults : [messageOf(error)];
    throw new SettingsError(faults.map((fault) => `STORYBAR_PLANS: ${path.basename(file)}: ${fault}`));
  }
}
