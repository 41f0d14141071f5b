// A thread that ends the process when one input takes too long, after it wrote that input to a file. The thread that runs the
// input can't do that, because it is busy.

import { writeFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { shared, maxMs, file } = workerData;
const [runs, length] = [new Int32Array(shared, 0, 1), new Int32Array(shared, 4, 1)];
let before = -1;
let since = Date.now();

setInterval(() => {
  const now = Atomics.load(runs, 0);
  if (now !== before) {
    before = now;
    since = Date.now();
  } else if (Date.now() - since > maxMs) {
    writeFileSync(file, Buffer.from(shared, 8, Atomics.load(length, 0)));
    console.error(`one input takes longer than ${maxMs} ms: ${file}`);
    process.kill(process.pid, 'SIGKILL');
  }
}, 500).unref();
