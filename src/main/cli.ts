// Composition root of the command line: finds the command, prints what went wrong, sets the exit code.

import { SettingsError } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import { EXIT_CODES, UsageError } from './exit-codes.ts';
import { VERSION } from './version.ts';

const HELP = `Storybar ${VERSION}: story-style caption bars on photos and videos.

  storybar serve                                   start the HTTP service
  storybar render <asset> --text <caption>         caption a picture or a video, without a server
  storybar render --width <px> --height <px> ...   a transparent PNG with the bars alone
  storybar keys create --plan <name> [--name <n>]  make an API key; shown once
  storybar keys list                               all keys
  storybar keys suspend|resume|revoke <id>         change a key; takes effect at once

  storybar doctor                                  check this installation

  storybar <command> --help tells more. Settings are described in docs/configuration.md.
`;

/** Loaded when called: \`keys list\` should not wait for an image decoder. */
const COMMANDS: Readonly<Record<string, (args: string[]) => Promise<void>>> = {
  serve: async (args) => (await import('./serve-command.ts')).serveCommand(args),
  render: async (args) => (await import('./render-command.ts')).renderCommand(args),
  doctor: async (args) => (await import('./doctor-command.ts')).doctorCommand(args),
  keys: async (args) => (await import('./keys-command.ts')).keysCommand(args),
};

async function run([name, ...args]: string[]): Promise<void> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(HELP);
    return;
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(`there is no command "${name}"; see storybar --help`);
  await command(args);
}

function report(error: unknown): number {
  if (error instanceof UsageError || isParseArgsError(error)) {
    process.stderr.write(`storybar: ${error.message}\n`);
    return EXIT_CODES.usage;
  }
  if (error instanceof SettingsError) {
    process.stderr.write(`storybar: ${error.message}\n`);
    return EXIT_CODES.settings;
  }
  if (error instanceof AppError) {
    const faults = error.faults.map(({ pointer, detail }) => `\n  ${pointer.slice(2)}: ${detail}`);
    process.stderr.write(`storybar: ${error.message}${faults.length > 1 ? faults.join('') : ''}\n`);
    return EXIT_CODES[error.code];
  }
  process.stderr.write(`storybar: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return EXIT_CODES.internal_error;
}

function isParseArgsError(error: unknown): error is Error {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

// `storybar render ... -o - | head`: whoever reads us may stop early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = report(error);
}
