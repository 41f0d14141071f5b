// The command line: runs a command, reports its error and sets the exit code. `bin/storybar.js` starts it.

import { SettingsError } from '../service/config/settings.ts';
import { AppError } from '../shared/errors.ts';
import { ERRORS } from '../shared/error-table.ts';
import { CommandFailure, SETTINGS_EXIT, USAGE_EXIT, UsageError } from './exit-codes.ts';
import { flagFaults } from './flag-faults.ts';
import { didYouMean } from './parse-options.ts';
import { causeOf } from '../main/cause-of.ts';
import { VERSION } from '../main/version.ts';

interface CliCommand {
  readonly summary: string;
  readonly run: (args: string[]) => Promise<void>;
}

/** Commands are loaded on demand, so that `keys list` doesn't load an image decoder. */
const COMMANDS: Readonly<Record<string, CliCommand>> = {
  serve: {
    summary: 'Start the HTTP server.',
    run: async (args) => (await import('./serve-command.ts')).serveCommand(args),
  },
  worker: {
    summary: 'Render for API servers on other machines.',
    run: async (args) => (await import('./worker-command.ts')).workerCommand(args),
  },
  render: {
    summary: 'Caption an image or a video without a server.',
    run: async (args) => (await import('./render-command.ts')).renderCommand(args),
  },
  send: {
    summary: 'Caption an image or a video with a server, and download the result.',
    run: async (args) => (await import('./send/send-command.ts')).sendCommand(args),
  },
  styles: {
    summary: 'Keep the styles of your account in a folder.',
    run: async (args) => (await import('./styles-command.ts')).stylesCommand(args),
  },
  logos: {
    summary: 'Add, list and delete the logos of your account.',
    run: async (args) => (await import('./logos-command.ts')).logosCommand(args),
  },
  fonts: {
    summary: 'Add, list and delete the fonts of your account.',
    run: async (args) => (await import('./fonts-command.ts')).fontsCommand(args),
  },
  keys: {
    summary: 'Manage API keys: create, rotate, suspend, revoke.',
    run: async (args) => (await import('./keys-command.ts')).keysCommand(args),
  },
  accounts: {
    summary: 'Manage accounts: plans, approval, suspension.',
    run: async (args) => (await import('./accounts-command.ts')).accountsCommand(args),
  },
  users: {
    summary: 'Manage the users who sign in to the site.',
    run: async (args) => (await import('./users-command.ts')).usersCommand(args),
  },
  plans: {
    summary: 'Show the plans, or check a plans file.',
    run: async (args) => (await import('./plans-command.ts')).plansCommand(args),
  },
  usage: {
    summary: 'Show how many renders and credits accounts used.',
    run: async (args) => (await import('./usage-command.ts')).usageCommand(args),
  },
  audit: {
    summary: 'Show who changed what.',
    run: async (args) => (await import('./audit-command.ts')).auditCommand(args),
  },
  db: {
    summary: 'Migrate, check, back up or copy the database.',
    run: async (args) => (await import('./db-command.ts')).dbCommand(args),
  },
  doctor: {
    summary: 'Check this installation.',
    run: async (args) => (await import('./doctor/doctor-command.ts')).doctorCommand(args),
  },
  completion: {
    summary: 'Print a script that completes commands in bash, zsh or fish.',
    run: async (args) => (await import('./completion-command.ts')).completionCommand(args, COMMANDS),
  },
};

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  storybar ${name.padEnd(width)}  ${summary}\n`);
  return `Storybar ${VERSION}: story-style caption bars for photos and videos.

Usage: storybar <command> [options]

${lines.join('')}
To start, create a key: storybar keys create --plan business --name first
"storybar <command> --help" describes a command. Settings are described in docs/configuration.md.
`;
}

async function run([name, ...args]: string[]): Promise<void> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(help());
    return;
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined)
    throw new UsageError(`unknown command "${name}"${didYouMean(name, Object.keys(COMMANDS))}`);
  await command.run(args);
}

interface Failure {
  readonly exit: number;
  readonly code: string;
  readonly message: string;
  readonly faults?: readonly string[];
}

/** Returns the exit code. */
function report(error: unknown, json: boolean): number {
  const { exit, code, message, faults = [] } = describe(error);
  const lines = faults.map((fault) => `\n  ${fault}`).join('');
  process.stderr.write(
    json ? `${JSON.stringify({ error: { code, message, faults } })}\n` : `storybar: ${message}${lines}\n`,
  );
  return exit;
}

function describe(error: unknown): Failure {
  if (error instanceof UsageError || isParseArgsError(error)) {
    return { exit: USAGE_EXIT, code: 'usage', message: error.message };
  }
  if (error instanceof CommandFailure) {
    const { exit, code, message, faults } = error;
    return { exit, code, message, faults };
  }
  if (error instanceof SettingsError) {
    return { exit: SETTINGS_EXIT, code: 'settings', message: 'invalid settings:', faults: error.faults };
  }
  if (error instanceof AppError) {
    const faults = flagFaults(error.faults);
    // On the command line, the caller is the operator and has to know what is wrong with the database or the disk.
    const isOurs = error.code === 'storage_unavailable' && error.cause !== undefined;
    const [only] = faults;
    const plain = only !== undefined && faults.length === 1 ? only : error.message;
    const message = isOurs ? `${error.message} Cause: ${causeOf(error)}` : plain;
    return {
      exit: ERRORS[error.code].exit,
      code: error.code,
      message,
      faults: faults.length > 1 ? faults : [],
    };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exit: ERRORS.internal_error.exit, code: 'internal_error', message };
}

function isParseArgsError(error: unknown): error is Error {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

// The reader of our output may stop early, as in `storybar render ... -o - | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

export async function main(args: readonly string[]): Promise<void> {
  try {
    await run([...args]);
  } catch (error) {
    process.exitCode = report(error, args.includes('--json'));
  }
}
