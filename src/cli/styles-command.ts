// `storybar styles` keeps the saved styles of an account in a folder, one JSON file each, so that they can be versioned with
// the rest of a brand.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SavedStyle, StyleToSave } from '#client';
import { messageOf } from '../shared/error-facts.ts';
import { ERRORS } from '../shared/error-table.ts';
import { CommandFailure, UsageError } from './exit-codes.ts';
import { flag } from './options.ts';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';
import { failureOf } from './send/failures.ts';
import { SERVER, type ServerInput, withClient } from './with-client.ts';

interface Task {
  readonly print: Print;
}

const EXTENSION = '.json';

const COMMAND: Command<Task> = {
  name: 'styles',
  actions: [
    action({
      name: 'list',
      options: SERVER,
      help: 'List the saved styles.',
      run: async ({ print }, input) => await list(print, input),
    }),
    action({
      name: 'pull',
      args: ['folder'],
      options: SERVER,
      help: 'Write every saved style to <folder>/<name>.json.',
      run: async ({ print }, { folder, ...input }) => await pull(print, folder, input),
    }),
    action({
      name: 'push',
      args: ['folder'],
      options: { ...SERVER, delete: flag },
      help: 'Save every file of the folder under its name. Styles that changed get a new version.\n--delete also deletes saved styles that have no file.',
      run: async ({ print }, { folder, delete: isExact, ...input }) => await push(print, folder, input, isExact),
    }),
  ],
  notes: [
    '--url and --key default to STORYBAR_URL and STORYBAR_API_KEY. To push, the key must be a live key without allowed origins.',
  ],
  withTask: async (print, use) => await use({ print }),
};

export async function stylesCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

async function list(print: Print, input: ServerInput): Promise<void> {
  const styles = await withClient(input, async (client) => await client.styles.list());
  const rows = styles.map(({ name, version, updated_at: at }) => [name, version, at]);
  print(styles, table(['name', 'version', 'updated'], rows, 'No styles.'));
}

async function pull(print: Print, folder: string, input: ServerInput): Promise<void> {
  const styles = await withClient(input, async (client) => await client.styles.list());
  await mkdir(folder, { recursive: true });
  for (const { name, style } of styles) {
    await writeFile(path.join(folder, fileNameOf(name)), `${JSON.stringify(style, null, 2)}\n`);
  }
  print(styles, styles.map(({ name, version }) => `${name}@${version}\n`).join('') || 'No styles.\n');
}

interface Pushed extends SavedStyle {
  readonly change: 'saved' | 'unchanged' | 'deleted';
}

/** All files are read before anything is saved. */
async function push(print: Print, folder: string, input: ServerInput, isExact: boolean): Promise<void> {
  const files = await readStyles(folder);
  const pushed = await withClient(input, async (client, server) => {
    const before = new Map((await client.styles.list()).map((one) => [one.name, one]));
    const done: Pushed[] = [];
    for (const { name, file, style } of files) {
      const saved = await client.styles.save(name, style).catch((error: unknown) => {
        throw inFile(failureOf(error, server), file);
      });
      const isSame = before.get(name)?.version === saved.version;
      done.push({ ...saved, change: isSame ? 'unchanged' : 'saved' });
      before.delete(name);
    }
    for (const other of isExact ? before.values() : []) {
      await client.styles.delete(other.name);
      done.push({ ...other, change: 'deleted' });
    }
    return done;
  });
  const lines = pushed.map(({ name, version, change }) => `${change} ${name}@${version}\n`);
  print(pushed, lines.join('') || `No files that end with ${EXTENSION} in ${folder}.\n`);
}

interface StyleFile {
  readonly name: string;
  readonly file: string;
  readonly style: StyleToSave;
}

async function readStyles(folder: string): Promise<StyleFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw new UsageError(`can't read the folder ${folder}: ${messageOf(error)}`);
  });
  const files = names.filter((name) => name.endsWith(EXTENSION)).toSorted();
  return await Promise.all(
    files.map(async (name) => {
      const file = path.join(folder, name);
      return { name: name.slice(0, -EXTENSION.length), file, style: parse(await readFile(file, 'utf8'), file) };
    }),
  );
}

/** The server checks the rest. */
function parse(json: string, file: string): StyleToSave {
  try {
    const style: unknown = JSON.parse(json);
    if (typeof style === 'object' && style !== null && !Array.isArray(style)) return style;
    throw new SyntaxError("it isn't an object");
  } catch (error) {
    const message = `${file} isn't valid JSON: ${messageOf(error)}`;
    throw new CommandFailure(message, { code: 'invalid_json', exit: ERRORS.invalid_fields.exit });
  }
}

/** The server chooses the names, so one that isn't a name of a style must not become a path. */
function fileNameOf(name: string): string {
  if (/^[a-z0-9-]+$/u.test(name)) return `${name}${EXTENSION}`;
  throw new CommandFailure('The server sent a name that no style can have.', {
    code: 'unexpected_response',
    exit: ERRORS.overloaded.exit,
  });
}

function inFile(error: unknown, file: string): unknown {
  if (!(error instanceof CommandFailure)) return error;
  const { message, code, exit, faults, status } = error;
  return new CommandFailure(`${file}: ${message}`, { code, exit, faults, status });
}
