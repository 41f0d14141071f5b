// Entry point of the process that tries to break out of the sandbox. The server runs it before it starts any worker.

import { environmentVariables } from '../service/config/settings.ts';
import { attemptEverything, type Targets } from '../service/dispatch/sandbox/attempts.ts';
import { openParentChannel } from '../engine/media/parent-channel.ts';

// The process keeps running until the server, which inspects it from outside, kills it or exits.
const channel = openParentChannel(() => process.exit(0));
const [, , targets] = process.argv;
// Without targets, this process is the decoy that the other one must not be able to signal.
if (targets !== undefined) {
  channel.send(await attemptEverything({ ...(JSON.parse(targets) as Targets), environment: environmentVariables() }));
}
