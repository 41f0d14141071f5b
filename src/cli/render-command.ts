// `storybar render` runs the renderer without a server or a store.

import { writeFile } from 'node:fs/promises';
import type { FormField } from '../caption/field-reader.ts';
import { parseForm } from '../caption/form.ts';
import { assertFormatFits, type CaptionClip, formatFor, type RequestedOutput } from '../caption/format-field.ts';
import { OUTPUT_FORMATS } from '../caption/output-format.ts';
import { SAFE_AREA_MARGINS } from '../caption/safe-area.ts';
import { HIGHLIGHTS } from '../caption/style.ts';
import { FONT_NAMES } from '../caption/fonts.ts';
import { STYLE_PRESETS } from '../caption/style-presets.ts';
import { AppError } from '../errors.ts';
import {
  type Captions,
  renderCaptionClip,
  renderCover,
  renderImage,
  renderOverlay,
  renderVideo,
  type Rendered,
  type LookOptions,
  type VideoOptions,
} from '../index.ts';
import type { Size } from '../layout/geometry.ts';
import { isVideoFormat } from '../media/sniff.ts';
import { isAnimationFile, sniffFile } from '../media/sniff-file.ts';
import { CAPTION_OPTIONS, captionFields } from './caption-options.ts';
import { withDownload } from './download.ts';
import { UsageError } from './exit-codes.ts';
import { parseOptions } from './parse-options.ts';
import { outputNextTo } from './local-files.ts';
import { messageOf } from '../primitives/error-facts.ts';
import { ProgressBar } from './progress-bar.ts';

const HELP = `Usage: storybar render <image or video, file or URL> --text <caption> [-o <file>]
       storybar render <image or video, file or URL> --overlays '[{"text":"...","position":25}]' [-o <file>]
       storybar render <video, file or URL> --captions <.srt, .vtt or transcript .json> [-o <file>]
       storybar render --width <px> --height <px> --text <caption> [-o <file>]
       storybar render --width <px> --height <px> --duration <seconds> --captions <file> [-o <file>]

Captions an image (JPEG, PNG, WebP, HEIC, AVIF or GIF) or a video (the output is an MP4). With --width and --height instead of a
file, the output is a transparent image with the caption bars only; with --duration (and --fps, default 30), a transparent video:
--format webm (default), mov (ProRes 4444) or apng. "-o -" writes an image to standard output. --lang names the
language of the captions (a BCP 47 tag such as ja) for letters whose form depends on it.

--format is the format of an image: png (default), jpeg or webp; png or webp for bars only; mp4 turns an animated GIF or
WebP into a video. --quality (1 to 100, default 90) is for jpeg and webp. Without --quality, a JPEG stays a JPEG without being
compressed again, and keeps its color profile; --color-space srgb converts it.

--max-bytes limits the size of a jpeg, webp or mp4 file; the quality is the best that fits.

--at is a time in seconds: the output is an image of that frame of a video, with the captions it shows.

--fit blur, crop or pad (or an object such as '{"mode":"pad","color":"#ffffff"}') brings the file to --width and --height.

On a video, an overlay can have "start" and "end" in seconds. --captions shows the cues of a subtitle file, or the words of a
transcript as OpenAI, whisper.cpp, Deepgram, AssemblyAI and ElevenLabs write it. --max-words and --max-lines split them into
pages. --position places the bar of --text (default 50) or the bars of --captions (default 80), in percent of the height.

--style is a preset (${STYLE_PRESETS.join(', ')}) or an object such as '{"preset":"box","size":1.5}'.
--font is one of ${FONT_NAMES.join(', ')}.
--highlight (${HIGHLIGHTS.join(', ')}, or an object such as '{"mode":"box","background":"#0a84ff"}') is how the word that is
being spoken stands out. --case upper writes capitals.
--safe-area (${Object.keys(SAFE_AREA_MARGINS).join(', ')}) keeps captions clear of an app's own controls on portrait images and videos.
`;

export async function renderCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseOptions({
    args,
    allowPositionals: true,
    options: {
      ...CAPTION_OPTIONS,
      output: { type: 'string', short: 'o' },
      quiet: { type: 'boolean', short: 'q' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const [asset, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`give one asset at a time; unexpected argument "${more.join(' ')}"`);
  const { output, quiet: isQuiet = false, ...given } = values;
  const pairs = await captionFields(given, output);
  const fields = pairs.map(([name, value]): FormField => ({ name, value }));
  const [, subtitles] = pairs.find(([name]) => name === 'captions') ?? [];
  const form = parseForm({ fields, hasAsset: asset !== undefined, faults: [] });
  const { overlays, canvas, output: requested } = form;
  const [first] = overlays;
  const place = { position: first?.position ?? null, lang: first?.lang ?? null };
  const pages = { maxWords: countOf(values['max-words']), maxLines: countOf(values['max-lines']) };
  const captions: Captions = subtitles === undefined ? overlays : { captions: subtitles, ...place, ...pages };
  const look: LookOptions = {
    safeArea: first?.safeArea ?? 'none',
    ...(subtitles !== undefined && first?.style && { style: first.style }),
  };
  const job = { captions, look, requested, output, isQuiet };
  if (asset !== undefined && /^https?:\/\//iu.test(asset)) {
    await withDownload(asset, async (file, name) => await renderFile(file, name, job));
    return;
  }
  if (canvas && requested.clip) {
    await captionClip(canvas, job, requested.clip);
  } else if (canvas) {
    const format = formatFor('canvas', requested);
    const { extension } = OUTPUT_FORMATS[format];
    await deliver(
      await renderOverlay(canvas, captions, { ...look, format }),
      output ?? `overlay.${extension}`,
      isQuiet,
    );
  } else if (asset === undefined) throw new UsageError('give an image or a video, or --width and --height');
  else await renderFile(asset, asset, job);
}

/** A field that was checked before. */
function countOf(text: string | undefined): number | null {
  return text === undefined || text.trim() === '' ? null : Number(text);
}

interface RenderArguments {
  readonly captions: Captions;
  readonly look: LookOptions;
  readonly requested: RequestedOutput;
  readonly output: string | undefined;
  readonly isQuiet: boolean;
}

/** `name` determines the default output file. */
async function renderFile(
  file: string,
  name: string,
  { captions, look, requested, output, isQuiet }: RenderArguments,
): Promise<void> {
  const source = await sourceOf(file);
  assertFormatFits(requested, source);
  const { at, quality } = requested;
  if (at !== undefined) {
    const image = formatFor('frame', requested);
    const options = { ...look, at, format: image, ...(quality !== undefined && { quality }), ...sizeOf(requested) };
    const { extension } = OUTPUT_FORMATS[image];
    await deliver(await renderCover(file, captions, options), output ?? outputNextTo(name, extension), isQuiet);
    return;
  }
  const format = formatFor(source, requested);
  const { extension } = OUTPUT_FORMATS[format];
  if (format === 'mp4') {
    await captionVideo(
      file,
      captions,
      { ...look, ...sizeOf(requested), isQuiet },
      output ?? outputNextTo(name, extension),
    );
    return;
  }
  const options = { ...look, ...requested, format };
  await deliver(await renderImage(file, captions, options), output ?? outputNextTo(name, extension), isQuiet);
}

function sizeOf({ fit, maxBytes }: RequestedOutput): Pick<VideoOptions, 'fit' | 'maxBytes'> {
  return { ...(fit && { fit }), ...(maxBytes !== undefined && { maxBytes }) };
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

async function captionClip(
  canvas: Size,
  { captions, look, requested, output, isQuiet }: RenderArguments,
  { seconds, fps }: CaptionClip,
): Promise<void> {
  const format = formatFor('clip', requested);
  const file = output ?? `overlay.${OUTPUT_FORMATS[format].extension}`;
  const options = { ...look, format, duration: seconds, fps };
  const facts = await writeVideo(file, isQuiet, async (onProgress) => {
    return await renderCaptionClip(canvas, file, captions, { ...options, onProgress });
  });
  if (!isQuiet) report(`${file}: ${facts.width}x${facts.height}, ${seconds} s`, facts.missingGlyphs);
}

async function captionVideo(
  asset: string,
  captions: Captions,
  { isQuiet, ...look }: LookOptions & Pick<VideoOptions, 'fit' | 'maxBytes'> & { readonly isQuiet: boolean },
  output: string,
): Promise<void> {
  const facts = await writeVideo(output, isQuiet, async (onProgress) => {
    return await renderVideo(asset, output, captions, { ...look, onProgress });
  });
  const seconds = facts.durationSeconds.toFixed(1);
  if (isQuiet) return;
  report(`${output}: ${facts.width}x${facts.height}, ${facts.frames} frames, ${seconds} s`, facts.missingGlyphs);
}

/** Shows the progress on a terminal. */
async function writeVideo<Facts>(
  output: string,
  isQuiet: boolean,
  write: (onProgress: Required<VideoOptions>['onProgress']) => Promise<Facts>,
): Promise<Facts> {
  if (output === '-') throw new UsageError('a video cannot be written to standard output; give -o <file>');
  const bar = new ProgressBar(process.stderr);
  const onProgress: Required<VideoOptions>['onProgress'] = (progress) => {
    if (!isQuiet) bar.show(progress);
  };
  return await write(onProgress).finally(() => bar.clear());
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
