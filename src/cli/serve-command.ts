import { parseArgs } from 'node:util';
import { readSettings } from '../config/settings.ts';
import { assertEmailSettings } from '../main/wire-identity.ts';
import { serve } from '../main/serve.ts';
import { stopOnSignals } from '../main/stop-on-signals.ts';

const HELP = `Usage: storybar serve

Starts the HTTP server. Settings come from the environment; see docs/configuration.md.
`;

export async function serveCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const settings = readSettings();
  assertEmailSettings(settings);
  const server = await serve(settings);
  stopOnSignals(async () => await server.close());
}
