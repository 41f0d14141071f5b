// The only file that reads the environment. All settings are read and checked once, at startup. docs/configuration.md is
// generated from the tables in the files beside this one.

import { ACCOUNT_SETTINGS } from './account-settings.ts';
import { CLUSTER_SETTINGS } from './cluster-settings.ts';
import { SERVER_SETTINGS } from './server-settings.ts';
import type { Setting } from './setting.ts';
import { STORAGE_SETTINGS } from './storage-settings.ts';
import { WORKER_SETTINGS } from './worker-settings.ts';

const SETTINGS = {
  ...SERVER_SETTINGS,
  ...STORAGE_SETTINGS,
  ...ACCOUNT_SETTINGS,
  ...WORKER_SETTINGS,
  ...CLUSTER_SETTINGS,
} as const;

const SECRET = /_URL$|SECRET|PASSWORD|_KEY$|TOKEN/u;

type Parsed<Item> = Item extends Setting<infer Value> ? Value : never;
export type Settings = { readonly [Name in keyof typeof SETTINGS]: Parsed<(typeof SETTINGS)[Name]> };

export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`invalid settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'SettingsError';
    this.faults = faults;
  }
}

/** Throws a `SettingsError` that lists every invalid setting. */
export function readSettings(environment: Readonly<Record<string, string | undefined>> = process.env): Settings {
  const faults: string[] = [];
  const entries = Object.entries(SETTINGS).map(([name, { variable, defaultText, parse }]) => {
    const text = environment[variable] ?? defaultText;
    const parsed = parse(text);
    if ('value' in parsed) return [name, parsed.value];
    // A value that may contain a password is not repeated.
    faults.push(`${variable} ${parsed.fault}${SECRET.test(variable) ? '' : `; got ${JSON.stringify(text)}`}`);
    return [name, undefined];
  });
  if (faults.length > 0) throw new SettingsError(faults);
  return Object.freeze(Object.fromEntries(entries)) as Settings;
}

/** The names of this process's environment variables: a sandboxed process checks that it has none. */
export function environmentVariables(): string[] {
  return Object.keys(process.env);
}

export function describeSettings(): { variable: string; defaultText: string; description: string }[] {
  return Object.values(SETTINGS).map(({ variable, defaultText, description }) => ({
    variable,
    // These defaults depend on the machine, which must not change the generated page. The description explains them.
    defaultText: variable.endsWith('_WORKERS') ? '' : defaultText,
    description,
  }));
}
