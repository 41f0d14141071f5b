// Runs commands of the built program one after the other in one process. See run-command.ts.

import { main } from '../dist/cli/cli.js';

const folder = process.cwd();
let last = Promise.resolve();

process.on('message', ({ id, ...command }) => {
  last = last.then(async () => {
    process.send({ id, ...(await run(command)) });
  });
});
process.on('disconnect', () => process.exit());

/** @param {{ args: string[], env: Record<string, string>, cwd: string | undefined }} command */
async function run({ args, env, cwd = folder }) {
  process.chdir(cwd);
  process.env = env;
  process.exitCode = undefined;
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  await main(args);
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  return { code, stdout: stdout(), stderr: stderr() };
}

/** @param {NodeJS.WriteStream} stream */
function capture(stream) {
  const chunks = [];
  const write = stream.write.bind(stream);
  stream.write = (chunk, ...rest) => {
    chunks.push(Buffer.from(chunk));
    const written = rest.at(-1);
    if (typeof written === 'function') process.nextTick(written);
    return true;
  };
  return () => {
    stream.write = write;
    return Buffer.concat(chunks).toString('utf8');
  };
}
