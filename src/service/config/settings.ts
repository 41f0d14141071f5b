// The only file that reads the environment. All settings are read and checked once, at startup. docs/configuration.md is
// generated from the tables in the files beside this one.

import { readFileSync } from 'node:fs';
import { ACCOUNT_SETTINGS } from './account-settings.ts';
import { CLIENT_SETTINGS } from './client-settings.ts';
import { CLUSTER_SETTINGS } from './cluster-settings.ts';
import { S3_SETTINGS } from './s3-settings.ts';
import { SERVER_SETTINGS } from './server-settings.ts';
import type { Setting } from './setting.ts';
import { SIGN_IN_SETTINGS } from './sign-in-settings.ts';
import { SPEECH_SETTINGS } from './speech-settings.ts';
import { STORAGE_SETTINGS } from './storage-settings.ts';
import { TELEMETRY_SETTINGS } from './telemetry-settings.ts';
import { type RemovedVariable, removedVariables, unknownVariables } from './unknown-variables.ts';
import { WORKER_SETTINGS } from './worker-settings.ts';

const SETTINGS = {
  ...SERVER_SETTINGS,
  ...STORAGE_SETTINGS,
  ...S3_SETTINGS,
  ...ACCOUNT_SETTINGS,
  ...SIGN_IN_SETTINGS,
  ...WORKER_SETTINGS,
  ...SPEECH_SETTINGS,
  ...CLUSTER_SETTINGS,
  ...TELEMETRY_SETTINGS,
} as const;

/** Settings that may contain a password. They can also be read from a file, and errors don't repeat their values. */
const SECRET = /_URL$|SECRET|PASSWORD|_KEY$|TOKEN|_HEADERS$/u;

type Parsed<Item> = Item extends Setting<infer Value> ? Value : never;
type Values<Table> = { readonly [Name in keyof Table]: Parsed<Table[Name]> };
export type Settings = Values<typeof SETTINGS>;
/** The parts of the settings. A function takes the part that it is about, or some settings by name. */
export type StorageSettings = Values<typeof STORAGE_SETTINGS & typeof S3_SETTINGS>;
export type SignInSettings = Values<typeof SIGN_IN_SETTINGS>;
export type WorkerSettings = Values<typeof WORKER_SETTINGS>;
export type SpeechSettings = Values<typeof SPEECH_SETTINGS>;
export type ClusterSettings = Values<typeof CLUSTER_SETTINGS>;
export type TelemetrySettings = Values<typeof TELEMETRY_SETTINGS>;
export type ClientSettings = Values<typeof CLIENT_SETTINGS>;

export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`invalid settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'SettingsError';
    this.faults = faults;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws a `SettingsError` that lists every invalid setting and every variable that isn't one. */
export function readSettings(environment: Environment = process.env): Settings {
  return readTable(SETTINGS, environment, unknownVariables(Object.keys(environment), variableNames()));
}

/** Returns the variables that were settings of an earlier version. */
export function removedSettings(environment: Environment = process.env): RemovedVariable[] {
  return removedVariables(Object.keys(environment));
}

/** Reads only these settings, so that a client doesn't depend on the settings of a server. */
export function readClientSettings(environment: Environment = process.env): ClientSettings {
  return readTable(CLIENT_SETTINGS, environment);
}

function readTable<Table extends Readonly<Record<string, Setting<unknown>>>>(
  table: Table,
  environment: Environment,
  unknown: readonly string[] = [],
): Values<Table> {
  const faults = [...unknown];
  const entries = Object.entries(table).map(([name, { variable, defaultText, parse }]) => {
    const given = SECRET.test(variable) ? readSecret(environment, variable) : { text: environment[variable] };
    if ('fault' in given) {
      faults.push(given.fault);
      return [name, undefined];
    }
    const text = given.text ?? defaultText;
    const parsed = parse(text);
    if ('value' in parsed) return [name, parsed.value];
    faults.push(`${variable} ${parsed.fault}${SECRET.test(variable) ? '' : `; got ${JSON.stringify(text)}`}`);
    return [name, undefined];
  });
  if (faults.length > 0) throw new SettingsError(faults);
  return Object.freeze(Object.fromEntries(entries)) as Values<Table>;
}

/** Reads the variable itself, or the file that the variable with the suffix `_FILE` names. */
function readSecret(environment: Environment, variable: string): { text: string | undefined } | { fault: string } {
  const file = environment[`${variable}_FILE`];
  if (file === undefined || file === '') return { text: environment[variable] };
  if (environment[variable] !== undefined)
    return { fault: `${variable} and ${variable}_FILE are both set; set only one` };
  try {
    return { text: readFileSync(file, 'utf8').trim() };
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return { fault: `${variable}_FILE must name a readable file; got ${JSON.stringify(file)} (${reason})` };
  }
}

function variableNames(): string[] {
  return Object.values({ ...SETTINGS, ...CLIENT_SETTINGS }).flatMap(({ variable }) =>
    SECRET.test(variable) ? [variable, `${variable}_FILE`] : [variable],
  );
}

/** The names of this process's environment variables: a sandboxed process checks that it has none. */
export function environmentVariables(): string[] {
  return Object.keys(process.env);
}

export function describeSettings(): {
  variable: string;
  defaultText: string;
  description: string;
  isSecret: boolean;
}[] {
  return Object.values({ ...SETTINGS, ...CLIENT_SETTINGS }).map(({ variable, defaultText, description }) => ({
    variable,
    // These defaults depend on the machine, which must not change the generated page. The description explains them.
    defaultText: variable.endsWith('_WORKERS') ? '' : defaultText,
    description,
    isSecret: SECRET.test(variable),
  }));
}
