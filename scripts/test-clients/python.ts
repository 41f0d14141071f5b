import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { clientFolder, type Environment, inEmptyFolder, run, runPrograms } from './package.ts';

/** The Python of the system, because the packages of Debian are for that one. */
const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';

export async function testPython(env: Environment): Promise<void> {
  const missing = ['httpx', 'pytest', 'hatchling'].filter((name) => !has(['-c', `import ${name}`]));
  if (missing.length > 0) {
    console.log(
      `skipped python: ${PYTHON} has no ${missing.join(' and no ')}; scripts/install-python-packages.sh installs them`,
    );
    return;
  }
  const quiet = { PYTHONDONTWRITEBYTECODE: '1' };
  await run(PYTHON, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], clientFolder('python'), { ...env, ...quiet });
  const readme = { STORYBAR_URL: env['STORYBAR_TEST_URL'] ?? '', STORYBAR_API_KEY: env['STORYBAR_TEST_KEY'] ?? '' };
  await inEmptyFolder('python', async (folder) => {
    await installWheel(folder);
    const command = path.join(folder, 'venv/bin/python');
    await runPrograms('python', { language: 'python', extension: '.py', command, folder, env: readme });
    if (!existsSync(path.join(folder, 'captioned.mp4'))) throw new Error('The README saved no captioned.mp4.');
    if (has(['-m', 'pip', ...PIP, 'mypy>=1.5'], command))
      await run(command, ['-m', 'mypy'], clientFolder('python'), quiet);
    else console.log('skipped the type check of python: mypy cannot be installed');
  });
}

const PIP = ['install', '--quiet', '--retries', '0'];

/** Builds the wheel and installs it into a virtual environment, with the system's packages and without a package index. */
async function installWheel(folder: string): Promise<void> {
  const python = path.join(folder, 'venv/bin/python');
  const local = ['--quiet', '--no-deps', '--no-index', '--no-build-isolation'];
  await run(PYTHON, ['-m', 'venv', '--system-site-packages', 'venv'], folder);
  await run(python, ['-m', 'pip', 'wheel', ...local, '-w', folder, clientFolder('python')], folder);
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl')) ?? '';
  await run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', path.join(folder, wheel)], folder);
}

function has(args: readonly string[], python = PYTHON): boolean {
  try {
    execFileSync(python, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
