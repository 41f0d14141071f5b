import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Environment, inEmptyFolder, installAndTest } from './package.ts';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly n8n: { readonly nodes: readonly string[]; readonly credentials: readonly string[] };
}

export async function testN8n(env: Environment): Promise<void> {
  await installAndTest('n8n', env);
  await inEmptyFolder('n8n', (folder) => {
    const installed = path.join(folder, 'node_modules/n8n-nodes-storybar');
    const manifest = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as Manifest;
    if (manifest.dependencies !== undefined) throw new Error('n8n-nodes-storybar must not have dependencies.');
    for (const file of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) checkClass(installed, file);
  });
}

/** n8n loads a file by its name and expects a class of the same name, with an icon that exists. */
function checkClass(installed: string, file: string): void {
  const name = path.basename(file).split('.')[0] ?? '';
  const program = `
    const path = require('node:path');
    const file = path.resolve(${JSON.stringify(file)});
    const made = new (require(file)[${JSON.stringify(name)}])();
    const icon = made.icon ?? made.description.icon;
    for (const each of Object.values(icon)) require('node:fs').accessSync(path.resolve(path.dirname(file), each.replace('file:', '')));
  `;
  execFileSync(process.execPath, ['-e', program], { cwd: installed, stdio: ['ignore', 'ignore', 'inherit'] });
  console.log(`ok: the installed package has ${name}`);
}
