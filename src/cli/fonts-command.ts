// `storybar fonts` manages the fonts that an account uploaded.

import { UsageError } from './exit-codes.ts';
import { flag } from './options.ts';
import { type Print, table } from './print.ts';
import { action, type Command, runActions } from './run-actions.ts';
import { SERVER, type ServerInput, withClient } from './with-client.ts';

interface Task {
  readonly print: Print;
}

const COMMAND: Command<Task> = {
  name: 'fonts',
  actions: [
    action({
      name: 'list',
      options: SERVER,
      help: 'List the uploaded fonts.',
      run: async ({ print }, input) => await list(print, input),
    }),
    action({
      name: 'add',
      args: ['file'],
      options: { ...SERVER, 'license-confirmed': flag },
      help: 'Upload a TTF, OTF or WOFF2 of up to 8 MB, and print its id.\n--license-confirmed says that the license of the font allows it.',
      run: async ({ print }, { file, 'license-confirmed': isConfirmed, ...input }) =>
        await add(print, file, input, isConfirmed),
    }),
    action({
      name: 'delete',
      args: ['id'],
      options: SERVER,
      help: 'Delete a font. Requests with its id fail from then on.',
      run: async ({ print }, { id, ...input }) => {
        await withClient(input, async (client) => await client.fonts.delete(id));
        print({ id }, `deleted ${id}\n`);
      },
    }),
  ],
  notes: [
    '--url and --key default to STORYBAR_URL and STORYBAR_API_KEY. To add and delete, the key must be a live key without allowed origins.',
  ],
  withTask: async (print, use) => await use({ print }),
};

export async function fontsCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

async function list(print: Print, input: ServerInput): Promise<void> {
  const fonts = await withClient(input, async (client) => await client.fonts.list());
  const rows = fonts.map(({ id, family, style, weights, characters }) => [
    id,
    family,
    style,
    weights.join('-'),
    characters,
  ]);
  print(fonts, table(['id', 'family', 'style', 'weights', 'characters'], rows, 'No fonts.'));
}

async function add(print: Print, file: string, input: ServerInput, isConfirmed: boolean): Promise<void> {
  if (!isConfirmed) {
    throw new UsageError(
      '--license-confirmed is missing: confirm that the license of the font allows you to use it here',
    );
  }
  const font = await withClient(input, async (client) => await client.fonts.add(file, { licenseConfirmed: true }));
  print(font, `${font.id}\n`);
}
