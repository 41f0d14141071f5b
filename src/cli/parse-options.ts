// Parses the options of a command, and writes its help from the same record. An unknown option is an error that names the
// most similar option there is.

import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearestName } from '../shared/edit-distance.ts';
import { UsageError } from './exit-codes.ts';

interface DescribedOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly placeholder?: string;
  readonly description: string;
}

/** A command without actions. */
interface PlainCommand<Options> {
  readonly name: string;
  /** What can follow the name, if it isn't only options. */
  readonly usages?: readonly string[];
  readonly help: string;
  readonly options: Options;
}

const MAX_LINE = 94;

export const HELP_OPTION = { type: 'boolean', short: 'h', description: 'Print this help.' } as const;

/** Returns undefined after `--help`, for which it prints the help. A command without usages takes only options. */
export function readCommand<const Options extends Readonly<Record<string, DescribedOption>>>(
  command: PlainCommand<Options>,
  args: string[],
): ReturnType<typeof parseArgs<{ allowPositionals: true; options: Options }>> | undefined {
  const { options } = command;
  const parsed = parseOptions({ args, allowPositionals: command.usages !== undefined, options });
  if (!('help' in parsed.values)) return parsed;
  process.stdout.write(helpOf(command));
  return undefined;
}

function helpOf({
  name,
  usages = ['[options]'],
  help,
  options,
}: PlainCommand<Readonly<Record<string, DescribedOption>>>): string {
  const described = Object.entries(options).map(([option, { type, short, placeholder = '<value>', description }]) => {
    const names = `${short === undefined ? '' : `-${short}, `}--${option}${type === 'string' ? ` ${placeholder}` : ''}`;
    const lines = description.replaceAll(new RegExp(`(.{1,${MAX_LINE}})(?: |$)`, 'gu'), '      $1\n');
    return `  ${names}\n${lines}`;
  });
  return `Usage:\n${usages.map((usage) => `  storybar ${name} ${usage}\n`).join('')}\n${help}\n\nOptions:\n${described.join('')}`;
}

export function parseOptions<const Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw unknownOption(error, Object.keys(config.options ?? {})) ?? error;
  }
}

function unknownOption(error: unknown, names: readonly string[]): UsageError | undefined {
  if (!(error instanceof TypeError) || !('code' in error) || error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return undefined;
  const typed = /'--?(?<name>[^' =]+)/u.exec(error.message)?.groups?.['name'];
  if (typed === undefined) return undefined;
  return new UsageError(`unknown option "--${typed}"${didYouMean(typed, names, '--')}`);
}

/** The end of an error about an unknown name. */
export function didYouMean(typed: string, names: readonly string[], prefix = ''): string {
  const nearest = nearestName(typed, names);
  return nearest === undefined ? '; see --help' : `; did you mean ${prefix}${nearest}?`;
}
