// Settings from the environment, because assistants start the server with variables and can't see them.

import { mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';

export interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Files are read from this folder and results are saved to it. Nothing else on the machine is touched. */
  readonly directory: string;
  /** Bearer token of requests over HTTP; empty for none. */
  readonly token: string;
  /** How long a tool waits for a video before it returns an id. */
  readonly waitSeconds: number;
}

/** The official client gives up after 60 seconds, unless its user makes it wait longer when progress is reported. */
const WAIT_SECONDS = 45;

export class SettingsError extends Error {}

export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const { STORYBAR_URL: baseUrl, STORYBAR_API_KEY: apiKey, STORYBAR_MCP_DIRECTORY: directory } = env;
  const missing = Object.entries({
    'STORYBAR_URL: the URL of the Storybar server': baseUrl,
    'STORYBAR_API_KEY: your API key': apiKey,
    'STORYBAR_MCP_DIRECTORY: the folder to read files from and save results to': directory,
  }).flatMap(([name, value]) => (value ? [] : [name]));
  if (!baseUrl || !apiKey || !directory) throw new SettingsError(`Set these variables:\n  ${missing.join('\n  ')}`);
  if (!path.isAbsolute(directory)) {
    throw new SettingsError(`STORYBAR_MCP_DIRECTORY must be an absolute path; got ${directory}.`);
  }
  const waitSeconds = Number(env['STORYBAR_MCP_WAIT_SECONDS'] ?? WAIT_SECONDS);
  if (!(waitSeconds >= 1)) {
    throw new SettingsError(
      `STORYBAR_MCP_WAIT_SECONDS must be a number from 1; got ${env['STORYBAR_MCP_WAIT_SECONDS']}.`,
    );
  }
  mkdirSync(directory, { recursive: true });
  const token = env['STORYBAR_MCP_TOKEN']?.trim() ?? '';
  return { baseUrl, apiKey, directory: realpathSync(directory), token, waitSeconds };
}
