// `storybar render` runs the renderer without a server or a store.

import { writeFile } from 'node:fs/promises';
import type { FormField } from '../engine/caption/field-reader.ts';
import { parseForm, refuseBrandFiles } from '../engine/caption/form.ts';
import { assertFormatFits, formatFor } from '../engine/caption/format-field.ts';
import { OUTPUT_FORMATS } from '../engine/caption/output-format.ts';
import { AppError } from '../shared/errors.ts';
import { isVideoFormat } from '../engine/media/sniff.ts';
import { isAnimationFile, sniffFile } from '../engine/media/sniff-file.ts';
import {
  type LocalRequest,
  renderClipLocally,
  renderCoverLocally,
  renderImageLocally,
  renderOverlayLocally,
  renderVideoLocally,
  type WriteOptions,
} from '../engine/render/render-locally.ts';
import type { Rendered } from '../engine/render/render.ts';
import { CAPTION_OPTIONS, captionFields, OUTPUT_OPTION } from './caption-options.ts';
import { withDownload } from './download.ts';
import { UsageError } from './exit-codes.ts';
import { HELP_OPTION, readCommand } from './parse-options.ts';
import { outputNextTo } from './local-files.ts';
import { messageOf } from '../shared/error-facts.ts';
import { ProgressBar } from './progress-bar.ts';

const COMMAND = {
  name: 'render',
  usages: [
    '<image or video, file or URL> --text <caption> [-o <file>]',
    '<video, file or URL> --captions <.srt, .vtt or transcript .json> [-o <file>]',
    '--width <px> --height <px> --text <caption> [-o <file>]',
    '--width <px> --height <px> --duration <seconds> --captions <file> [-o <file>]',
  ],
  help: `Captions an image (JPEG, PNG, WebP, HEIC, AVIF or GIF) or a video, without a server. With --width and --height instead of a
file, the output is a transparent image with the caption bars only, or with --duration a transparent video.`,
  options: {
    ...CAPTION_OPTIONS,
    output: OUTPUT_OPTION,
    quiet: { type: 'boolean', short: 'q', description: 'Print only errors.' },
    help: HELP_OPTION,
  },
} as const;

export async function renderCommand(args: string[]): Promise<void> {
  const read = readCommand(COMMAND, args);
  if (read === undefined) return;
  const { values, positionals } = read;
  const [asset, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`give one asset at a time; unexpected argument "${more.join(' ')}"`);
  const { output, quiet: isQuiet = false, ...given } = values;
  const pairs = await captionFields(given, output);
  const fields = pairs.map(([name, value]): FormField => ({ name, value }));
  const request = parseForm({ fields, hasAsset: asset !== undefined, faults: [] });
  refuseBrandFiles(request);
  const job = { request, output, isQuiet };
  if (asset !== undefined && /^https?:\/\//iu.test(asset)) {
    await withDownload(asset, async (file, name) => await renderFile(file, name, job));
    return;
  }
  if (asset !== undefined) await renderFile(asset, asset, job);
  else if (request.output.clip) await captionClip(job, request.output.clip.seconds);
  else {
    const { extension } = OUTPUT_FORMATS[formatFor('canvas', request.output)];
    await deliver(await renderOverlayLocally(request), output ?? `overlay.${extension}`, isQuiet);
  }
}

interface RenderArguments {
  readonly request: LocalRequest;
  readonly output: string | undefined;
  readonly isQuiet: boolean;
}

/** `name` determines the default output file. */
async function renderFile(file: string, name: string, { request, output, isQuiet }: RenderArguments): Promise<void> {
  const source = await sourceOf(file);
  assertFormatFits(request.output, source);
  const isCover = request.output.at !== undefined;
  const format = formatFor(isCover ? 'frame' : source, request.output);
  const named = { ...request, output: { ...request.output, format } };
  const target = output ?? outputNextTo(name, OUTPUT_FORMATS[format].extension);
  if (isCover) await deliver(await renderCoverLocally(named, file), target, isQuiet);
  else if (format === 'mp4') await captionVideo(file, named, target, isQuiet);
  else await deliver(await renderImageLocally(named, file), target, isQuiet);
}

async function sourceOf(asset: string): Promise<'image' | 'animation' | 'video'> {
  const format = await sniffFile(asset).catch((error: unknown) => {
    throw new AppError('not_found', `File ${asset} not found.`, { cause: error });
  });
  if (format === undefined) {
    throw new AppError(
      'unsupported_asset',
      `${asset} isn't an image (JPEG, PNG, WebP, HEIC, AVIF, GIF) or a video (MP4, MOV, WebM, Matroska).`,
    );
  }
  if (await isAnimationFile(asset)) return 'animation';
  return isVideoFormat(format) ? 'video' : 'image';
}

async function captionClip({ request, output, isQuiet }: RenderArguments, seconds: number): Promise<void> {
  const file = output ?? `overlay.${OUTPUT_FORMATS[formatFor('clip', request.output)].extension}`;
  const facts = await writeVideo(file, isQuiet, async (options) => await renderClipLocally(request, file, options));
  if (!isQuiet) report(`${file}: ${facts.width}x${facts.height}, ${seconds} s`, facts.missingGlyphs);
}

async function captionVideo(asset: string, request: LocalRequest, output: string, isQuiet: boolean): Promise<void> {
  const facts = await writeVideo(output, isQuiet, async (options) => {
    return await renderVideoLocally(request, asset, output, options);
  });
  const seconds = facts.durationSeconds.toFixed(1);
  if (isQuiet) return;
  report(`${output}: ${facts.width}x${facts.height}, ${facts.frames} frames, ${seconds} s`, facts.missingGlyphs);
}

/** Shows the progress on a terminal. */
async function writeVideo<Facts>(
  output: string,
  isQuiet: boolean,
  write: (options: WriteOptions) => Promise<Facts>,
): Promise<Facts> {
  if (output === '-') throw new UsageError('a video cannot be written to standard output; give -o <file>');
  const bar = new ProgressBar(process.stderr);
  const options: WriteOptions = isQuiet ? {} : { onProgress: (progress) => bar.show(progress) };
  return await write(options).finally(() => bar.clear());
}

async function deliver(
  { bytes, width, height, missingGlyphs }: Rendered,
  output: string,
  isQuiet: boolean,
): Promise<void> {
  if (output === '-') {
    process.stdout.write(bytes);
    return;
  }
  await writeFile(output, bytes).catch((error: unknown) => {
    throw new UsageError(`cannot write ${output}: ${messageOf(error)}`);
  });
  if (!isQuiet) report(`${output}: ${width}x${height}, ${bytes.length} bytes`, missingGlyphs);
}

function report(line: string, missingGlyphs: number): void {
  const missing = missingGlyphs > 0 ? `, ${missingGlyphs} characters without a font` : '';
  process.stderr.write(`${line}${missing}\n`);
}
