// Runs the commands that consist of actions, such as `storybar keys create`. A command is a table of actions. This is the
// only place that parses their arguments, prints their help and reports usage errors.

import { UsageError } from './exit-codes.ts';
import { didYouMean, parseOptions } from './parse-options.ts';
import { nearestName } from '../shared/edit-distance.ts';
import type { OptionTable, OptionValues } from './options.ts';
import { type Print, printer } from './print.ts';

export interface Command<Task> {
  readonly name: string;
  readonly actions: readonly CommandAction<Task>[];
  /** The action that runs when none is named. Without it, the command prints its help. */
  readonly defaultAction?: string;
  /** Additional lines of help. */
  readonly notes?: readonly string[];
  /** Opens the resources of the actions, calls `use` with them and closes them again. */
  readonly withTask: (print: Print, use: (task: Task) => Promise<void>) => Promise<void>;
}

interface Usage {
  /** Absent for a command that is its only action, such as `storybar audit`. */
  readonly name?: string;
  readonly help: string;
  /** Required arguments, in order. */
  readonly args?: readonly string[];
  /** The name of the arguments that may follow the required ones. */
  readonly rest?: string;
  readonly options?: OptionTable;
}

/** An action as the runner sees it. `run` is a method so that it accepts actions with inputs of any type. */
export interface CommandAction<Task> extends Usage {
  run(task: Task, input: Readonly<Record<string, unknown>>): Promise<void>;
}

interface TypedAction<Task, Arg extends string, Options extends OptionTable> extends Usage {
  readonly args?: readonly Arg[];
  readonly options?: Options;
  readonly run: (
    task: Task,
    input: Readonly<Record<NoInfer<Arg>, string>> &
      OptionValues<NoInfer<Options>> & { readonly rest: readonly string[] },
  ) => Promise<void>;
}

/** Checks that the input of `run` consists of the arguments and options in the same row of the table. */
export function action<Task, const Options extends OptionTable, const Arg extends string = never>(
  definition: TypedAction<Task, Arg, Options>,
): CommandAction<Task> {
  return definition;
}

type Given = Readonly<Record<string, unknown>>;

export async function runActions<Task>(command: Command<Task>, args: string[]): Promise<void> {
  const { values, positionals } = parseOptions({
    args,
    allowPositionals: true,
    options: parserOptions(command.actions),
  });
  const { json, help, ...given } = values;
  const name = command.actions[0]?.name === undefined ? undefined : (positionals.shift() ?? command.defaultAction);
  const chosen = command.actions.find((each) => each.name === name);
  if (help === true || (chosen === undefined && name === undefined)) {
    process.stdout.write(helpOf(command));
    return;
  }
  if (chosen === undefined) {
    const names = command.actions.map((each) => each.name ?? '');
    const hint = nearestName(name ?? '', names) === undefined ? '' : didYouMean(name ?? '', names);
    throw new UsageError(`unknown action "${command.name} ${name}"; the actions are ${names.join(', ')}${hint}`);
  }
  const usage = usageOf(command.name, chosen);
  const input = { ...readArguments(chosen, positionals, usage), ...readOptions(chosen, given, usage) };
  await command.withTask(printer(json === true), async (task) => await chosen.run(task, input));
}

/** Options are parsed before the action is known, so this is the union of all actions' options. */
function parserOptions(actions: readonly Usage[]): Record<string, { type: 'string' | 'boolean'; short?: string }> {
  const tables = actions.flatMap(({ options = {} }) => Object.entries(options));
  return {
    ...Object.fromEntries(
      tables.map(([name, { placeholder }]) => [name, { type: placeholder === undefined ? 'boolean' : 'string' }]),
    ),
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  };
}

function readArguments({ args = [], rest }: Usage, words: readonly string[], usage: string): Record<string, unknown> {
  const missing = args[words.length];
  if (missing !== undefined) throw new UsageError(`missing <${missing}>; usage: ${usage}`);
  const more = words.slice(args.length);
  if (rest === undefined && more.length > 0) {
    throw new UsageError(`unexpected argument "${more.join(' ')}"; usage: ${usage}`);
  }
  return { ...Object.fromEntries(args.map((name, index) => [name, words[index]])), rest: more };
}

function readOptions({ options = {} }: Usage, given: Given, usage: string): Record<string, unknown> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(options, name));
  if (unknown !== undefined) throw new UsageError(`--${unknown} does not apply here; usage: ${usage}`);
  const entries = Object.entries(options).map(([name, option]) => {
    const value = given[name];
    if (option.placeholder === undefined) return [name, value === true];
    if (typeof value === 'string') return [name, option.parse(value, `--${name}`)];
    if (option.isRequired) throw new UsageError(`missing --${name} ${option.placeholder}; usage: ${usage}`);
    return [name, undefined];
  });
  return Object.fromEntries(entries);
}

/** Returns the line that shows how to call an action, such as `storybar keys rename <id> <name>`. */
function usageOf(command: string, { name, args = [], rest, options = {} }: Usage): string {
  const parts = [
    `storybar ${command}`,
    ...(name === undefined ? [] : [name]),
    ...args.map((arg) => `<${arg}>`),
    ...(rest === undefined ? [] : [`[<${rest}>...]`]),
    ...Object.entries(options).map(([option, spec]) => {
      if (spec.placeholder === undefined) return `[--${option}]`;
      return spec.isRequired ? `--${option} ${spec.placeholder}` : `[--${option} ${spec.placeholder}]`;
    }),
  ];
  return parts.join(' ');
}

function helpOf({
  name,
  actions,
  notes = [],
}: Pick<Command<unknown>, 'name' | 'notes'> & { actions: readonly Usage[] }): string {
  return [
    'Usage:',
    ...actions.flatMap((each) => [`  ${usageOf(name, each)}`, each.help.replaceAll(/^/gmu, '      ')]),
    '',
    ...notes,
    'Add --json for machine-readable output.',
    '',
  ].join('\n');
}
