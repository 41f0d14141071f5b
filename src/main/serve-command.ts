import { parseArgs } from 'node:util';
import { readSettings } from '../config/settings.ts';
import { assertMailComplete } from './people.ts';
import { serve } from './serve.ts';

const HELP = 'storybar serve: start the HTTP service. Settings come from the environment; see docs/configuration.md.\n';

export async function serveCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const settings = readSettings();
  assertMailComplete(settings);
  const server = await serve(settings);
  let stopping = false;
  const stop = (): void => {
    // A second signal means now.
    if (stopping) process.exit(1);
    stopping = true;
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`storybar: shutdown failed: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}
