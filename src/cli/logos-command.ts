// `storybar logos` manages the logos of an account.

import type { Logo } from '#client';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';
import { SERVER, withClient } from './with-client.ts';

interface Task {
  readonly print: Print;
}

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
