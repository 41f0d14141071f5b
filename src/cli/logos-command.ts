// `storybar logos` manages the logos of an account.

import { Storybar, type Logo } from '#client';
import { readClientSettings } from '../config/settings.ts';
import { text } from './options.ts';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';
import { failureOf } from './send/failures.ts';
import { serverOf } from './server-options.ts';

interface Task {
  readonly print: Print;
}

interface ServerInput {
  readonly url: string | undefined;
  readonly key: string | undefined;
}

const SERVER = { url: text('<url>'), key: text('<key>') };

const COMMAND: Command<Task> = {
  name: 'logos',
  actions: [
    action({
      name: 'list',
      options: SERVER,
      help: 'List the logos.',
      run: async ({ print }, input) => {
        const logos = await withClient(input, async (client) => await client.logos.list());
        print(logos, table(['id', 'size', 'bytes', 'created'], logos.map(rowOf), 'No logos.'));
      },
    }),
    action({
      name: 'add',
      args: ['file'],
      options: SERVER,
      help: 'Upload a PNG, WebP or JPEG of up to 2 MB and 4 megapixels, and print its id.',
      run: async ({ print }, { file, ...input }) => {
        const logo = await withClient(input, async (client) => await client.logos.add(file));
        print(logo, `${logo.id}\n`);
      },
    }),
    action({
      name: 'delete',
      args: ['id'],
      options: SERVER,
      help: 'Delete a logo. Renders that were accepted keep it.',
      run: async ({ print }, { id, ...input }) => {
        await withClient(input, async (client) => await client.logos.delete(id));
        print({ id }, `deleted ${id}\n`);
      },
    }),
  ],
  notes: [
    '--url and --key default to STORYBAR_URL and STORYBAR_API_KEY. To add or delete, the key must be a live key without allowed origins.',
    'Use the id in a style: {"logo": {"id": "logo_...", "corner": "top-right"}}.',
  ],
  withTask: async (print, use) => await use({ print }),
};

export async function logosCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

function rowOf({ id, width, height, bytes, created_at: at }: Logo): (string | number)[] {
  return [id, `${width}x${height}`, bytes, at];
}

async function withClient<Result>(
  { url, key }: ServerInput,
  use: (client: Storybar) => Promise<Result>,
): Promise<Result> {
  const server = serverOf(readClientSettings(), url, key);
  try {
    return await use(new Storybar({ baseUrl: server.url, apiKey: server.key }));
  } catch (error) {
    throw failureOf(error, server.url);
  }
}
