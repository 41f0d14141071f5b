import { HELP_OPTION, readCommand } from './parse-options.ts';
import { readSettings } from '../service/config/settings.ts';
import { assertSignInSettings } from '../main/sign-in-clients.ts';
import { assertEmailSettings } from '../main/wire-identity.ts';
import { serve } from '../main/serve.ts';
import { stopOnSignals } from '../main/stop-on-signals.ts';

const COMMAND = {
  name: 'serve',
  help: 'Starts the HTTP server. Settings come from the environment; see docs/configuration.md.',
  options: {
    'print-key': {
      type: 'boolean',
      description:
        "Print the first API key of a new installation, and the link for STORYBAR_OPERATOR_EMAIL, even if the output isn't a terminal.",
    },
    help: HELP_OPTION,
  },
} as const;

export async function serveCommand(args: string[]): Promise<void> {
  const read = readCommand(COMMAND, args);
  if (read === undefined) return;
  const settings = readSettings();
  assertEmailSettings(settings);
  assertSignInSettings(settings);
  const server = await serve(settings, read.values['print-key'] ?? process.stdout.isTTY);
  stopOnSignals(async () => await server.close());
}
