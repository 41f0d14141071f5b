// Starts a server, and ends it and deletes its data directory when the process that runs the tests is gone. The channel
// to that process then closes, even if it was killed. See shared-server.ts.

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';

const server = spawn(process.execPath, process.argv.slice(2), { stdio: ['ignore', 'inherit', 'inherit'] });
process.send(server.pid);
for (const event of ['disconnect', 'SIGTERM']) process.on(event, () => server.kill());
server.once('exit', (code) => {
  rmSync(process.env.STORYBAR_DATA_DIR, { recursive: true, force: true });
  process.exit(code ?? 1);
});
