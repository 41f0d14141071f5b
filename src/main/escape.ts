// Composition root of the program that tries to break out of the sandbox; started by the server before the first worker.

import { environmentVariables } from '../config/settings.ts';
import { attemptEverything, type Targets } from '../dispatch/sandbox/attempts.ts';
import { openParentChannel } from '../media/parent-channel.ts';

// It stays until the server, which has a look from outside, ends it or goes itself.
const channel = openParentChannel(() => process.exit(0));
const targets = JSON.parse(process.argv[2] ?? '') as Targets;
channel.send(await attemptEverything({ ...targets, environment: environmentVariables() }));
