// Runs a Postman collection from top to bottom like Postman's own runner, as far as our collection needs it: variables, keys of
// folders, scripts before and after requests, and their tests.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { must } from '../src/shared/must.ts';

/** The files that a person would choose. */
const FILES: Readonly<Record<string, string>> = {
  'photo.jpg': '../examples/photo.jpg',
  'logo.png': '../examples/brand-kit/logo.png',
  'font.ttf': 'fuzz/corpus/fonts/truetype.ttf',
};
/** A request that asks for itself again, until something has ended. */
const MAX_REPEATS = 1_000;
const REPEAT_MS = 100;

interface Field {
  readonly key: string;
  readonly value?: string;
  readonly type?: string;
  readonly src?: string;
  readonly disabled?: boolean;
}

interface Event {
  readonly listen: 'prerequest' | 'test';
  readonly script: { readonly exec: readonly string[] };
}

interface Auth {
  readonly type: string;
  readonly apikey?: readonly Field[];
}

interface Item {
  readonly name: string;
  readonly event?: readonly Event[];
  readonly request: {
    readonly method: string;
    readonly url: { readonly raw: string; readonly variable?: readonly Field[] };
    readonly header: readonly Field[];
    readonly auth?: Auth;
    readonly body?: {
      readonly raw?: string;
      readonly formdata?: readonly Field[];
      readonly urlencoded?: readonly Field[];
    };
  };
}

interface Collection {
  readonly auth: Auth;
  readonly variable: readonly Field[];
  readonly item: readonly { readonly auth?: Auth; readonly event?: readonly Event[]; readonly item: readonly Item[] }[];
}

export interface CollectionRun {
  /** Names of requests, with the status of the response, or undefined for one that was skipped. */
  readonly requests: (readonly [name: string, status: number | undefined])[];
  /** Names of passed tests. */
  readonly passed: string[];
  /** Failed tests with their requests. */
  readonly failed: string[];
}

interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Stops a script whose request is skipped. */
class Skipped extends Error {}

/** `values` replace the collection's own variables. */
export async function runCollection(text: string, values: Readonly<Record<string, string>>): Promise<CollectionRun> {
  const collection = JSON.parse(text) as Collection;
  const variables = new Map(collection.variable.map(({ key, value = '' }) => [key, value]));
  for (const [key, value] of Object.entries(values)) variables.set(key, value);
  const items = collection.item.flatMap(({ item, auth = collection.auth, event = [] }) =>
    item.map((one) => ({ ...one, auth: one.request.auth ?? auth, event: [...event, ...(one.event ?? [])] })),
  );
  const run: CollectionRun = { requests: [], passed: [], failed: [] };
  let repeats = 0;
  for (let index = 0; index < items.length && repeats < MAX_REPEATS; index += 1) {
    const item = must(items[index], 'the request');
    if (runScripts(item, 'prerequest', { run, variables }) === 'skipped') {
      run.requests.push([item.name, undefined]);
      continue;
    }
    const response = await send(item, item.auth, variables);
    run.requests.push([item.name, response.status]);
    const next = runScripts(item, 'test', { run, variables, response });
    if (next === undefined) continue;
    index = items.findIndex(({ name }) => name === next) - 1;
    repeats += 1;
    await wait(REPEAT_MS);
  }
  return run;
}

interface ScriptContext {
  readonly run: CollectionRun;
  readonly variables: Map<string, string>;
  readonly response?: ReceivedResponse;
}

/** Returns the name of the next request if a script chose one. */
function runScripts(
  { name, event = [] }: Item,
  listen: Event['listen'],
  { run, variables, response }: ScriptContext,
): string | undefined {
  let next: string | undefined;
  const pm = {
    info: { requestName: name },
    variables: { get: (key: string) => variables.get(key) },
    collectionVariables: { set: (key: string, value: string) => variables.set(key, value) },
    execution: {
      setNextRequest: (chosen: string) => (next = chosen),
      skipRequest: () => {
        throw new Skipped();
      },
    },
    response: response && {
      code: response.status,
      headers: { has: (header: string) => response.headers.has(header) },
      json: () => JSON.parse(response.text) as unknown,
    },
    expect: (actual: unknown) => ({
      to: {
        be: { oneOf: (allowed: readonly unknown[]) => check(allowed.includes(actual), actual, allowed) },
        equal: (expected: unknown) => check(actual === expected, actual, expected),
      },
    }),
    test: (title: string, body: () => void) => {
      try {
        body();
        run.passed.push(title);
      } catch (error) {
        run.failed.push(`${name}: ${title}: ${String(error)} ${response?.text ?? ''}`);
      }
    },
  };
  try {
    for (const { script } of event.filter((one) => one.listen === listen))
      runInNewContext(script.exec.join('\n'), { pm });
  } catch (error) {
    if (error instanceof Skipped) return 'skipped';
    throw error;
  }
  return next;
}

function check(isRight: boolean, actual: unknown, expected: unknown): void {
  if (!isRight) throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

async function send(
  { request: { method, url, header, body } }: Item,
  auth: Auth,
  variables: ReadonlyMap<string, string>,
): Promise<ReceivedResponse> {
  const filled = (text: string): string =>
    text.replaceAll(/\{\{(?<name>\w+)\}\}/gu, (_, name: string) => must(variables.get(name), `the variable ${name}`));
  const address = filled(url.raw).replaceAll(/(?<=\/):(?<name>\w+)/gu, (_, name: string) => {
    return filled(must(url.variable?.find(({ key }) => key === name)?.value, `the parameter ${name} of ${url.raw}`));
  });
  const key = (auth.apikey ?? []).find((one) => one.key === 'value')?.value;
  const headers = header
    .filter(({ disabled }) => disabled !== true)
    .map(({ key: name, value = '' }): [string, string] => [name, filled(value)]);
  const response = await fetch(address, {
    method,
    headers: { ...Object.fromEntries(headers), ...(key !== undefined && { 'x-api-key': filled(key) }) },
    body: encode(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function contentOf(name: string): Buffer<ArrayBuffer> {
  return readFileSync(path.resolve(import.meta.dirname, must(FILES[name], `the file ${name}`)));
}

function encode(body: Item['request']['body']): string | FormData | URLSearchParams | null {
  if (body?.raw !== undefined) return body.raw;
  const fields = (body?.formdata ?? body?.urlencoded ?? []).filter(({ disabled }) => disabled !== true);
  if (body?.urlencoded)
    return new URLSearchParams(Object.fromEntries(fields.map(({ key, value = '' }) => [key, value])));
  if (body?.formdata === undefined) return null;
  const form = new FormData();
  for (const { key, type, value = '', src = '' } of fields) {
    if (type === 'file') form.append(key, new Blob([contentOf(src)]), src);
    else form.append(key, value);
  }
  return form;
}
