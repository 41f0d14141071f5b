import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { testInBrowser } from './browser.ts';
import { clientFolder, type Environment, inEmptyFolder, installAndTest, run } from './package.ts';
import { runPrograms } from './readme.ts';

export async function testTypeScript(env: Environment): Promise<void> {
  await installAndTest('typescript', env);
  await inEmptyFolder('typescript', async (folder) => {
    const command = process.execPath;
    const files = await runPrograms('typescript', { language: 'js', extension: '.mjs', command, folder, env });
    if (!existsSync(path.join(folder, 'captioned.png'))) throw new Error('The README saved no captioned.png.');
    await checkTypes(folder, files);
    await testInBrowser(folder, env);
  });
}

/** Checks the programs of the README, which are TypeScript as well, against the types of the installed package. */
async function checkTypes(folder: string, files: readonly string[]): Promise<void> {
  const modules = path.join(clientFolder('typescript'), 'node_modules');
  const programs = files.map((file) => file.replace('.mjs', '.mts'));
  for (const [index, program] of programs.entries()) {
    writeFileSync(path.join(folder, program), readFileSync(path.join(folder, files[index] ?? '')));
  }
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  const types = ['--typeRoots', path.join(modules, '@types')];
  await run(process.execPath, [path.join(modules, 'typescript/bin/tsc'), ...options, ...types, ...programs], folder);
  console.log('ok: the programs of the README have the types of the installed package');
}
