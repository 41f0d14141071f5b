// `storybar render`: the renderer alone, with neither server nor store.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type FormField, parseForm } from '../caption/form.ts';
import { AppError } from '../errors.ts';
import { type Captions, renderImage, renderOverlay, type Rendered } from '../index.ts';
import { UsageError } from './exit-codes.ts';

const HELP = `storybar render <image> --text <caption> [-o <file>]
storybar render <image> --overlays '[{"text":"...","position":25}]' [-o <file>]
storybar render --width <px> --height <px> --text <caption> [-o <file>]

-o -  writes the PNG to standard output.
`;

export async function renderCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      text: { type: 'string' },
      overlays: { type: 'string' },
      width: { type: 'string' },
      height: { type: 'string' },
      output: { type: 'string', short: 'o' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const [asset, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`one image at a time, not also ${more.join(' ')}`);
  const { output = defaultOutput(asset), ...formValues } = values;
  const fields = Object.entries(formValues).map(([name, value]): FormField => ({ name, value: String(value) }));
  const { overlays, canvas } = parseForm({ fields, hasAsset: asset !== undefined, faults: [] });
  const rendered = await render(asset, canvas, overlays);
  await deliver(rendered, output);
}

async function render(
  asset: string | undefined,
  canvas: { width: number; height: number } | undefined,
  captions: Captions,
): Promise<Rendered> {
  if (canvas) return await renderOverlay(canvas, captions);
  if (asset === undefined) throw new UsageError('name an image, or give --width and --height');
  try {
    return await renderImage(asset, captions);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR')) {
      throw new AppError('not_found', `There is no file ${asset}.`, { cause: error });
    }
    throw error;
  }
}

function defaultOutput(asset: string | undefined): string {
  if (asset === undefined) return 'overlay.png';
  const { dir, name } = path.parse(asset);
  return path.join(dir, `${name}-captioned.png`);
}

async function deliver({ bytes, width, height, missingGlyphs }: Rendered, output: string): Promise<void> {
  if (output === '-') {
    process.stdout.write(bytes);
    return;
  }
  await writeFile(output, bytes);
  const missing = missingGlyphs > 0 ? `, ${missingGlyphs} characters without a font` : '';
  process.stderr.write(`${output}: ${width}x${height}, ${bytes.length} bytes${missing}\n`);
}
