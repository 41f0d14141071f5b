// Every format of a finished file, with everything that depends on the format alone. To add a format, start here. The
// compiler then points to its encoder in `render/`.

/** The base of captions: an asset of some kind, a frame of a video, or a transparent canvas, of an image or of a clip. */
export type OutputSource = 'canvas' | 'image' | 'animation' | 'video' | 'frame' | 'clip';

interface FormatKind {
  /** The name for people. */
  readonly title: string;
  readonly mediaType: string;
  readonly extension: string;
  /** Other names that clients may use. */
  readonly aliases: readonly string[];
  readonly sources: readonly OutputSource[];
  /** True if `quality` applies to images in this format. Files without an asset are always lossless. */
  readonly isLossy: boolean;
  /** The largest side that the encoder accepts, in pixels. A video has the limits of its plan instead. */
  readonly maxSide?: number;
}

/** The first format of a source is its default. */
export const OUTPUT_FORMATS = {
  png: {
    title: 'PNG',
    mediaType: 'image/png',
    extension: 'png',
    aliases: [],
    sources: ['canvas', 'image', 'animation', 'frame'],
    isLossy: false,
    maxSide: 65_535,
  },
  jpeg: {
    title: 'JPEG',
    mediaType: 'image/jpeg',
    extension: 'jpg',
    aliases: ['jpg'],
    sources: ['image', 'animation', 'frame'],
    isLossy: true,
    maxSide: 65_500,
  },
  webp: {
    title: 'WebP',
    mediaType: 'image/webp',
    extension: 'webp',
    aliases: [],
    sources: ['canvas', 'image', 'animation', 'frame'],
    isLossy: true,
    maxSide: 16_383,
  },
  mp4: {
    title: 'MP4',
    mediaType: 'video/mp4',
    extension: 'mp4',
    aliases: [],
    sources: ['animation', 'video'],
    isLossy: false,
  },
  webm: {
    title: 'WebM',
    mediaType: 'video/webm',
    extension: 'webm',
    aliases: [],
    sources: ['clip'],
    isLossy: false,
  },
  mov: {
    title: 'MOV',
    mediaType: 'video/quicktime',
    extension: 'mov',
    aliases: [],
    sources: ['clip'],
    isLossy: false,
  },
  apng: {
    title: 'APNG',
    mediaType: 'image/apng',
    extension: 'apng',
    aliases: [],
    sources: ['clip'],
    isLossy: false,
  },
} as const satisfies Readonly<Record<string, FormatKind>>;

type Formats = typeof OUTPUT_FORMATS;
export type OutputFormat = keyof Formats;

/** The formats that are possible for a source. */
export type FormatOf<Source extends OutputSource> = {
  [Format in OutputFormat]: Source extends Formats[Format]['sources'][number] ? Format : never;
}[OutputFormat];

/** The formats of images with a quality. */
export type LossyFormat = {
  [Format in OutputFormat]: Formats[Format]['isLossy'] extends true ? Format : never;
}[OutputFormat];

export const FORMAT_NAMES = Object.keys(OUTPUT_FORMATS) as OutputFormat[];

/** The possible formats by source, the default first. */
export const FORMATS_OF: { readonly [Source in OutputSource]: readonly FormatOf<Source>[] } = {
  canvas: formatsOf('canvas'),
  image: formatsOf('image'),
  animation: formatsOf('animation'),
  video: formatsOf('video'),
  frame: formatsOf('frame'),
  clip: formatsOf('clip'),
};

function formatsOf<Source extends OutputSource>(source: Source): readonly FormatOf<Source>[] {
  return FORMAT_NAMES.filter((format) => isFormatOf(source, format));
}

export function isFormatOf<Source extends OutputSource>(
  source: Source,
  format: OutputFormat,
): format is FormatOf<Source> {
  return OUTPUT_FORMATS[format].sources.some((possible) => possible === source);
}

/** Returns the format for a request that names none. */
export function defaultFormat<Source extends OutputSource>(source: Source): FormatOf<Source> {
  const [first] = FORMATS_OF[source];
  if (first === undefined) throw new RangeError(`no format for ${source}`);
  return first;
}

/** The color spaces of a JPEG that stays a JPEG. The first one is the default. */
export const COLOR_SPACES = ['source', 'srgb'] as const;
export type ColorSpace = (typeof COLOR_SPACES)[number];

/** What clients may write, in the order of the formats. */
export const WRITTEN_FORMATS: ReadonlyMap<string, OutputFormat> = new Map(
  FORMAT_NAMES.flatMap((format) => [format, ...OUTPUT_FORMATS[format].aliases].map((name) => [name, format] as const)),
);

/** Returns whether `max_bytes` can limit the file. A source that isn't known yet may be one with an asset. */
export function hasByteLimit(format: OutputFormat, source: OutputSource | undefined): boolean {
  return source !== 'canvas' && source !== 'clip' && (format === 'mp4' || isLossy(format));
}

export function isLossy(format: OutputFormat): format is LossyFormat {
  return OUTPUT_FORMATS[format].isLossy;
}
