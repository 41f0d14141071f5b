// `storybar send` renders with a server: upload, wait, download. An accepted render survives this command, so an
// interrupted command can be continued.

import { randomUUID } from 'node:crypto';
import { readClientSettings } from '../../config/settings.ts';
import { CAPTION_OPTIONS, captionFields } from '../caption-options.ts';
import { UsageError } from '../exit-codes.ts';
import { parseOptions } from '../parse-options.ts';
import { printer } from '../print.ts';
import { serverOf } from '../server-options.ts';
import { withInterrupts } from './interrupts.ts';
import { Reporter } from './reporter.ts';
import { Sending } from './sending.ts';

const HELP = `Usage: storybar send <image or video, file or URL> --text <caption> [-o <file>]
       storybar send --width <px> --height <px> --text <caption> [-o <file>]
       storybar send --resume <render id> [-o <file>]
       storybar send --cancel <render id>

Captions an image or a video with a Storybar server, and downloads the result. The server fetches a URL itself. The captions
and their look have the options of "storybar render": --text, --overlays, --captions, --max-words, --max-lines, --position,
--lang, --style, --font, --highlight, --case, --safe-area, --format, --quality and --color-space; --strict refuses captions with
warnings.

--url is the server, and --key the API key. They default to STORYBAR_URL and STORYBAR_API_KEY. Prefer the variable for the
key, because other users of this machine can see the arguments of a command.

A file is uploaded and rendered asynchronously, so nothing depends on a connection that stays open. After Ctrl-C or a crash,
the render goes on, and --resume waits for it and downloads its result. --cancel cancels it, free of charge. --no-wait only
uploads. Requests that fail are repeated, with the same idempotency key, so that they are charged once; --idempotency-key
sets that key. With --put-url, the server sends the file to that presigned URL instead, and nothing is downloaded;
--put-headers are its headers, as JSON. The name after -o decides the format, and "-o -" writes to standard output. --json prints the render as JSON, and
--quiet only errors.

Exit codes: 0 success, 64 wrong arguments, 65 refused file or captions, 69 server or render failed, 77 refused key,
130 interrupted.
`;

const OPTIONS = {
  ...CAPTION_OPTIONS,
  'put-url': { type: 'string' },
  'put-headers': { type: 'string' },
  strict: { type: 'boolean' },
  url: { type: 'string' },
  key: { type: 'string' },
  output: { type: 'string', short: 'o' },
  resume: { type: 'string' },
  cancel: { type: 'string' },
  'no-wait': { type: 'boolean' },
  'idempotency-key': { type: 'string' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
} as const;

export async function sendCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseOptions({ args, allowPositionals: true, options: OPTIONS });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
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
