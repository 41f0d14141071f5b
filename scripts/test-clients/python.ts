import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { must } from '../../src/shared/must.ts';
import { clientFolder, type Environment, inEmptyFolder, run } from './package.ts';
import { readmeVariables, runPrograms } from './readme.ts';

/** Use the system's Python, because the packages of Debian are for that one. */
const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const QUIET = { PYTHONDONTWRITEBYTECODE: '1' };
const PIP = ['-m', 'pip', '--quiet', '--disable-pip-version-check', 'install', '--retries', '0'];

export async function testPython(env: Environment): Promise<void> {
  const missing = ['httpx', 'pytest', 'hatchling'].filter((name) => !has(PYTHON, ['-c', `import ${name}`]));
  if (missing.length > 0) {
    console.log(
      `skipped python: ${PYTHON} has no ${missing.join(' and no ')}; scripts/install-python-packages.sh installs them`,
    );
    return;
  }
  await run(PYTHON, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], clientFolder('python'), { ...env, ...QUIET });
  await inEmptyFolder('python', async (folder) => {
    const command = path.join(folder, 'venv/bin/python');
    await installWheel(folder, command);
    const files = await runPrograms('python', { language: 'python', extension: '.py', command, folder, env });
    if (!existsSync(path.join(folder, 'captioned.mp4'))) throw new Error('The README saved no captioned.mp4.');
    await runExample(folder, command, env);
    await checkTypes(folder, command, files);
  });
}

/** Builds the wheel and installs it into an empty virtual environment, or without a package index beside the system's packages. */
async function installWheel(folder: string, python: string): Promise<void> {
  const build = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--no-index', '--no-build-isolation', '-w', folder];
  await run(PYTHON, [...build, clientFolder('python')], folder);
  const wheel = path.join(folder, readdirSync(folder).find((name) => name.endsWith('.whl')) ?? '');
  await run(PYTHON, ['-m', 'venv', 'venv'], folder);
  if (has(python, [...PIP, wheel])) return;
  console.log("no package index can be reached, so the README runs with the system's httpx");
  await run(PYTHON, ['-m', 'venv', '--clear', '--system-site-packages', 'venv'], folder);
  await run(python, [...PIP, '--no-deps', wheel], folder);
}

/** Starts the example with the command of the README, in a copy of the folder, because the result is saved beside the video. */
async function runExample(folder: string, python: string, env: Environment): Promise<void> {
  const examples = path.join(clientFolder('python'), '../../examples');
  cpSync(examples, path.join(folder, 'examples'), { recursive: true });
  const readme = readFileSync(path.join(examples, 'README.md'), 'utf8');
  const command = must(/`(python3 [^`]+)`/u.exec(readme)?.[1], 'command of python-words');
  const PATH = `${path.dirname(python)}:${process.env['PATH'] ?? ''}`;
  await run('bash', ['-c', command], folder, { ...readmeVariables(env), PATH });
  const result = path.join(folder, 'examples/clip-captioned.mp4');
  if (!existsSync(result)) throw new Error('The example saved no clip-captioned.mp4.');
}

/** Checks the sources and tests, and the programs of the README against the installed package. */
async function checkTypes(folder: string, python: string, files: readonly string[]): Promise<void> {
  if (!has(python, [...PIP, 'mypy>=1.5', 'pytest'])) {
    console.log('skipped the type check of python: mypy 1.5 or later and pytest cannot be installed');
    return;
  }
  await run(python, ['-m', 'mypy', '--cache-dir', path.join(folder, 'mypy')], clientFolder('python'), QUIET);
  await run(python, ['-m', 'mypy', '--strict', ...files], folder, QUIET);
}

function has(python: string, args: readonly string[]): boolean {
  try {
    execFileSync(python, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
