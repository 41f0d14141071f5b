// Composition root of the program that tries to break out of the sandbox; started by the server before the first worker.

import { environmentVariables } from '../config/settings.ts';
import { attemptEverything, type Targets } from '../dispatch/sandbox/attempts.ts';

process.on('disconnect', () => process.exit(0));

const targets = JSON.parse(process.argv[2] ?? '') as Targets;
process.send?.(await attemptEverything({ ...targets, environment: environmentVariables() }));
// The server has a look from outside and ends it.
process.channel?.ref();
