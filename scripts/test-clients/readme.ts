// The programs of a README, run as its readers would run them.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { must } from '../../src/shared/must.ts';
import { freePort } from '../../test/free-port.ts';
import { signalProcess, until } from '../../test/running-server.ts';
import { clientFolder, type Environment, run } from './package.ts';

interface Setup {
  readonly language: string;
  readonly extension: string;
  readonly command: string;
  readonly folder: string;
  readonly env: Environment;
}

/** The port of the programs that receive webhooks. */
const RECEIVER_PORT = '3000';

/** Returns the code blocks of a README in one language. */
export function programsOf(name: string, language: string): string[] {
  const readme = readFileSync(path.join(clientFolder(name), 'README.md'), 'utf8');
  const programs = [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gmsu'))].map(
    ([, code = '']) => code,
  );
  if (programs.length === 0) throw new Error(`clients/${name}/README.md has no programs in ${language}.`);
  return programs;
}

/** Runs each program of the README in the folder, and returns the names of their files. */
export async function runPrograms(name: string, setup: Setup): Promise<string[]> {
  const files: string[] = [];
  for (const [index, code] of programsOf(name, setup.language).entries()) {
    const file = `readme-${index + 1}${setup.extension}`;
    files.push(file);
    console.log(`README, program ${index + 1}: ${file}`);
    if (code.includes(RECEIVER_PORT)) await runReceiver(file, code, setup);
    else await runOnce(file, code, setup);
  }
  return files;
}

async function runOnce(file: string, code: string, { command, folder, env }: Setup): Promise<void> {
  writeFileSync(path.join(folder, file), withStandIn(code, env));
  await run(command, [file], folder, readmeVariables(env));
}

/** Replaces the hosts of examples with the stand-in, which has the files and gets the webhooks. */
export function withStandIn(text: string, env: Environment): string {
  const standIn = must(env['STORYBAR_STAND_IN_URL'], 'URL of the stand-in');
  return text
    .replaceAll('https://files.example.com', `${standIn}/files`)
    .replaceAll('https://hooks.example.com', `${standIn}/hooks`);
}

/**
 * Checks that a program that receives webhooks refuses a forged one, and prints the link of a render that the service
 * announces.
 */
async function runReceiver(file: string, code: string, { command, folder, env }: Setup): Promise<void> {
  const port = String(await freePort());
  writeFileSync(path.join(folder, file), code.replaceAll(RECEIVER_PORT, port));
  const url = `http://127.0.0.1:${port}/`;
  const { id, secret } = await api<{ id: string; secret: string }>(env, 'POST', '/v1/webhook-endpoints', { url });
  const receiver = spawn(command, [file], {
    cwd: folder,
    env: { ...process.env, STORYBAR_WEBHOOK_SECRET: secret, PYTHONUNBUFFERED: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let printed = '';
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  try {
    const forged = await until(async () => await sendForgery(receiver, url));
    if (forged !== 400) throw new Error(`${file} responded with ${forged} to a forged webhook.`);
    const render = await api<{ id: string }>(env, 'POST', '/v1/overlay', {
      width: 64,
      height: 32,
      text: 'Announce me',
      async: true,
    });
    const finished = await api<{ output: { url: string } }>(env, 'GET', `/v1/renders/${render.id}?wait=60`);
    await until(() => printed.includes(finished.output.url));
  } finally {
    await stop(receiver);
    await api(env, 'DELETE', `/v1/webhook-endpoints/${id}`);
  }
}

/** Returns the status of the response, or undefined as long as the program doesn't listen. */
async function sendForgery(receiver: ChildProcess, url: string): Promise<number | undefined> {
  if (receiver.exitCode !== null) throw new Error(`The receiver exited with ${receiver.exitCode}.`);
  const headers = { 'webhook-id': 'm1', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) };
  const body = JSON.stringify({ type: 'render.succeeded', data: { output: { url: 'https://evil.example.com' } } });
  const forgery = { method: 'POST', headers: { ...headers, 'webhook-signature': 'v1,AAAA' }, body };
  const response = await fetch(url, forgery).catch(() => undefined);
  return response?.status;
}

async function api<Body>(env: Environment, method: string, url: string, json?: object): Promise<Body> {
  const response = await fetch(new URL(url, env['TESTS_URL']), {
    method,
    headers: {
      'x-api-key': must(env['TESTS_KEY'], 'key'),
      ...(json && { 'content-type': 'application/json' }),
    },
    body: json === undefined ? null : JSON.stringify(json),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

/** Returns the variables that the READMEs tell their readers to set. */
export function readmeVariables(env: Environment): Environment {
  return {
    STORYBAR_URL: must(env['TESTS_URL'], 'URL of the service'),
    STORYBAR_API_KEY: must(env['TESTS_KEY'], 'key'),
  };
}

/**
 * Stops a program that was started with `detached`, and what it started: `npx` ends on a signal, but the program that it runs
 * may not.
 */
export async function stop(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const exited = once(program, 'exit');
  signalProcess(-must(program.pid, 'the process id'), 'SIGTERM');
  await exited;
}
