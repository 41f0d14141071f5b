// Entry point of the process that tries to break out of the sandbox. The server runs it before it starts any worker.

import { environmentVariables } from '../config/settings.ts';
import { attemptEverything, type Targets } from '../dispatch/sandbox/attempts.ts';
import { openParentChannel } from '../media/parent-channel.ts';

// The process keeps running until the server, which inspects it from outside, kills it or exits.
const channel = openParentChannel(() => process.exit(0));
const targets = JSON.parse(process.argv[2] ?? '') as Targets;
channel.send(await attemptEverything({ ...targets, environment: environmentVariables() }));
