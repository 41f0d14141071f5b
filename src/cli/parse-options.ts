// Parses the options of a command. An unknown one is an error that names the most similar option there is.

import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearestName } from '../primitives/edit-distance.ts';
import { UsageError } from './exit-codes.ts';

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
