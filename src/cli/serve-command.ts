import { parseOptions } from './parse-options.ts';
import { readSettings } from '../config/settings.ts';
import { assertSignInSettings } from '../main/sign-in-clients.ts';
import { assertEmailSettings } from '../main/wire-identity.ts';
import { serve } from '../main/serve.ts';
import { stopOnSignals } from '../main/stop-on-signals.ts';

const HELP = `Usage: storybar serve [--print-key]

Starts the HTTP server. Settings come from the environment; see docs/configuration.md.

  --print-key   print the first API key of a new installation, and the link for STORYBAR_OPERATOR_EMAIL,
                even if the output isn't a terminal
`;

export async function serveCommand(args: string[]): Promise<void> {
  const { values } = parseOptions({
    args,
    options: { help: { type: 'boolean', short: 'h' }, 'print-key': { type: 'boolean' } },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const settings = readSettings();
  assertEmailSettings(settings);
  assertSignInSettings(settings);
  const server = await serve(settings, values['print-key'] ?? process.stdout.isTTY);
  stopOnSignals(async () => await server.close());
}
