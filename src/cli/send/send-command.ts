// `storybar send` renders with a server: upload, wait, download. An accepted render survives this command, so an
// interrupted command can be continued.

import { randomUUID } from 'node:crypto';
import { DELIVERY_FIELDS } from '../../engine/caption/request-fields.ts';
import { readClientSettings } from '../../service/config/settings.ts';
import { CAPTION_OPTIONS, captionFields, fieldOption, OUTPUT_OPTION } from '../caption-options.ts';
import { UsageError } from '../exit-codes.ts';
import { HELP_OPTION, readCommand } from '../parse-options.ts';
import { printer } from '../print.ts';
import { serverOf } from '../server-options.ts';
import { withInterrupts } from './interrupts.ts';
import { Reporter } from './reporter.ts';
import { Sending } from './sending.ts';

const COMMAND = {
  name: 'send',
  usages: [
    '<image or video, file or URL> --text <caption> [-o <file>]',
    '--width <px> --height <px> --text <caption> [-o <file>]',
    '--resume <render id> [-o <file>]',
    '--cancel <render id>',
  ],
  help: `Captions an image or a video with a Storybar server, and downloads the result. The server fetches a URL itself.

A file is uploaded and rendered asynchronously, so nothing depends on a connection that stays open. After Ctrl-C or a crash,
the render goes on. Requests that fail are repeated, with the same idempotency key, so that they are charged once.

Exit codes: 0 success, 64 wrong arguments, 65 refused file or captions, 69 server or render failed, 77 refused key,
130 interrupted.`,
  options: {
    ...CAPTION_OPTIONS,
    'put-url': fieldOption(DELIVERY_FIELDS.put_url.description),
    'put-headers': fieldOption(DELIVERY_FIELDS.put_headers.description),
    strict: { type: 'boolean', description: 'Refuse captions with warnings.' },
    url: { type: 'string', placeholder: '<url>', description: 'The server. Default: STORYBAR_URL.' },
    key: {
      type: 'string',
      placeholder: '<key>',
      description:
        'The API key. Default: STORYBAR_API_KEY, which is safer: other users of this machine can see the arguments of a command.',
    },
    output: OUTPUT_OPTION,
    resume: {
      type: 'string',
      placeholder: '<render id>',
      description: 'Wait for a render that was sent before, and download its result.',
    },
    cancel: { type: 'string', placeholder: '<render id>', description: 'Cancel a render, free of charge.' },
    'no-wait': { type: 'boolean', description: 'Only upload.' },
    'idempotency-key': { type: 'string', placeholder: '<key>', description: 'Default: a random one.' },
    json: { type: 'boolean', description: 'Print the render as JSON.' },
    quiet: { type: 'boolean', short: 'q', description: 'Print only errors.' },
    help: HELP_OPTION,
  },
} as const;

export async function sendCommand(args: string[]): Promise<void> {
  const read = readCommand(COMMAND, args);
  if (read === undefined) return;
  const { values, positionals } = read;
  const { url, key, output, resume, cancel, json = false, quiet = false, help: _help, ...rest } = values;
  const { 'no-wait': isDetached = false, 'idempotency-key': idempotencyKey = randomUUID(), ...given } = rest;
  const [asset, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`give one asset at a time; unexpected argument "${more.join(' ')}"`);
  const existing = resume ?? cancel;
  if (existing !== undefined && (asset !== undefined || Object.keys(given).length > 0)) {
    throw new UsageError('--resume and --cancel take a render id, and no file or captions');
  }
  if (output !== undefined && given['put-url'] !== undefined) {
    throw new UsageError('with --put-url the file goes only there; leave out -o');
  }
  const fields = existing === undefined ? await captionFields(given, output) : [];
  const server = serverOf(readClientSettings(), url, key);
  const reporter = new Reporter(process.stderr, json || quiet);
  const print = printer(json);
  await withInterrupts(async (signal) => {
    const sending = new Sending({ ...server, reporter, print, signal, output, isDetached });
    if (cancel !== undefined) await sending.cancel(cancel);
    else if (resume !== undefined) await sending.finish(resume, undefined);
    else await sending.send(asset, fields, idempotencyKey);
  });
}
