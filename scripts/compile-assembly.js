// Compiles AssemblyScript modules, all in one process, because loading the compiler takes many times as long as a
// module. It is a program of its own because tsx, which runs the other scripts, takes seconds for the compiler's code.

import { main } from 'assemblyscript/asc';

const modules = {};
for (const [source, [initial, maximum]] of Object.entries(JSON.parse(process.argv[2]))) {
  const memory = ['--initialMemory', `${initial}`, '--maximumMemory', `${maximum}`];
  const options = ['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd', ...memory, '--outFile', 'module.wasm'];
  const { error } = await main([source, ...options], {
    stderr: process.stderr,
    writeFile: (_name, contents) => {
      modules[source] = Buffer.from(contents).toString('base64');
    },
  });
  if (error !== null) throw new Error(`${source} doesn't compile`, { cause: error });
}
process.stdout.write(JSON.stringify(modules));
