// The rules between the fields of a request. Each gets the checked values and returns what is wrong with them. Rules about
// a single field are in its schema.

import type { FaultCode, FieldFault } from '../../shared/errors.ts';
import type { UrlFault } from './asset-url.ts';
import { NEEDS_VIDEO } from './captions-field.ts';
import { videoSideFaults } from './fit.ts';
import { outputFaults } from './format-field.ts';
import { defaultFormat, type OutputFormat, type OutputSource } from './output-format.ts';
import { MAX_CANVAS_PIXELS } from './overlay.ts';
import { isAllowedHeader } from './put-fields.ts';
import { capitalize, pointerTo, quoteValue } from './quote.ts';
import type { FieldName } from './request-fields.ts';
import type { RequestValues } from './request-values.ts';
import type { CaptionStyle } from './style.ts';
import { DEFAULT_PRESET, presetOf } from './style-presets.ts';

/** Returns the fault of a well-formed URL, if any. */
export type CheckUrl = (url: URL, purpose?: 'webhook' | 'put') => UrlFault | undefined;

/** What rules need to know besides the values. */
export interface RequestContext {
  readonly isUploaded: boolean;
  /** True if there is an asset, also one to fetch, or if one was meant. */
  readonly hasAsset: boolean;
  /** True if the request is for a layout, which has no file. */
  readonly isLayout: boolean;
  /** True if captions were sent where no video can be. */
  readonly lacksVideo: boolean;
  /** When `width` and `height` are required; undefined where they are ignored. */
  readonly sizeRequired: string | undefined;
  /** Undefined while it isn't known. */
  readonly source: OutputSource | undefined;
  readonly allowsSpeech: boolean;
  /** The fields that were sent, even if they are blank. */
  readonly sent: ReadonlySet<string>;
  /** Returns true if the field was sent with a value, even if it couldn't be read. */
  readonly isMeant: (name: FieldName) => boolean;
  readonly checkUrl: CheckUrl;
}

type Rule = (values: RequestValues, context: RequestContext) => readonly (FieldFault | false | undefined)[];

const NUMBER = new Intl.NumberFormat('en');

export const RULES: readonly Rule[] = [
  captionIsRequired,
  captionsAreOfOneKind,
  positionGoesWithOneCaption,
  cuesNeedVideo,
  speechNeedsWholeVideo,
  overlaysEndAfterTheirStart,
  backgroundNeedsPreset,
  assetIsSentOnce,
  urlsAreAllowed,
  sizeIsComplete,
  videoSidesFit,
  fitNeedsAsset,
  fileFitsSource,
  clipHasNoAsset,
  clipIsSmall,
  layoutOfVideoHasDuration,
  deliveryIsOneWay,
  putHeadersAreAllowed,
  putHeadersAreSentOnce,
];

function captionIsRequired(_values: RequestValues, { isMeant, sent }: RequestContext): FieldFault[] {
  if ((['text', 'overlays', 'captions'] as const).some(isMeant)) return [];
  if (sent.has('text')) return [fault('text', 'blank', "Caption can't be empty.")];
  return [fault('text', 'required', 'A caption is required. Send one in text, or several in overlays.')];
}

function captionsAreOfOneKind(values: RequestValues): ReturnType<Rule> {
  const [hasText, hasOverlays] = ['text' in values, 'overlays' in values];
  return [
    hasText && hasOverlays && fault('overlays', 'conflict', 'Send either text or overlays, not both.'),
    'captions' in values &&
      (hasText || hasOverlays) &&
      fault('captions', 'conflict', 'Send either captions, text or overlays.'),
  ];
}

function positionGoesWithOneCaption(values: RequestValues): ReturnType<Rule> {
  const detail = 'Position goes with text or captions. Give each overlay its own position instead.';
  return ['position' in values && 'overlays' in values && fault('position', 'conflict', detail)];
}

function cuesNeedVideo(_values: RequestValues, { lacksVideo }: RequestContext): ReturnType<Rule> {
  return [lacksVideo && NEEDS_VIDEO];
}

function speechNeedsWholeVideo(values: RequestValues, { allowsSpeech }: RequestContext): ReturnType<Rule> {
  if (!isAuto(values)) return [];
  const noSpeech = 'Captions from speech (auto) need an API key and POST /v1/overlay.';
  const noMoment = 'Captions from speech need the whole video. Send its captions, or leave out at.';
  return [
    !allowsSpeech && fault('captions', 'conflict', noSpeech),
    'at' in values && fault('at', 'conflict', noMoment),
  ];
}

/** True if the captions are to be made from what is said in the video. */
export function isAuto({ captions }: RequestValues): boolean {
  return typeof captions === 'string' && captions.trim() === 'auto';
}

function overlaysEndAfterTheirStart({ overlays = [] }: RequestValues): ReturnType<Rule> {
  return overlays.map((overlay, index) => {
    const { start = 0, end = Infinity } = overlay ?? {};
    const detail = `End must be later than start (${start}); got ${end}.`;
    return end <= start && { pointer: `#/overlays/${index}/end`, code: 'out_of_range', detail };
  });
}

function backgroundNeedsPreset({ style, overlays = [] }: RequestValues): ReturnType<Rule> {
  const own = backgroundFault(style, '#/style');
  const others = overlays.map((overlay, index) => {
    // A conflict within the style of the request has been reported there.
    const isInherited = own !== undefined && overlay?.style?.preset === undefined && !overlay?.style?.background;
    return isInherited ? undefined : backgroundFault(styleOf(overlay?.style, style), `#/overlays/${index}/style`);
  });
  return [own, ...others];
}

/** The fault of a background on a preset without one. */
export function backgroundFault(style: CaptionStyle | undefined, pointer: string): FieldFault | undefined {
  const { preset = DEFAULT_PRESET, background } = style ?? {};
  if (background === undefined || presetOf(preset).background !== undefined) return undefined;
  const detail = `The preset ${preset} has no background. Leave background out, or use bar or box.`;
  return { pointer: `${pointer}/background`, code: 'conflict', detail };
}

/**
 * The style of a caption. Its own style replaces that of the request if it names a preset. Without a preset, it changes only
 * the keys it has.
 */
export function styleOf(own: CaptionStyle | undefined, requested: CaptionStyle | undefined): CaptionStyle {
  return own?.preset === undefined ? { ...requested, ...own } : own;
}

function assetIsSentOnce(values: RequestValues, { isUploaded }: RequestContext): ReturnType<Rule> {
  const detail = 'Send either asset or asset_url, not both.';
  return [isUploaded && 'asset_url' in values && fault('asset_url', 'conflict', detail)];
}

function urlsAreAllowed(values: RequestValues, { checkUrl }: RequestContext): ReturnType<Rule> {
  const { asset_url: asset, webhook_url: webhook, put_url: put } = values;
  const found = {
    asset_url: asset && checkUrl(asset),
    webhook_url: webhook && checkUrl(webhook, 'webhook'),
    put_url: put && checkUrl(put, 'put'),
  };
  return Object.entries(found).map(([name, problem]) => problem && { pointer: `#/${name}`, ...problem });
}

function sizeIsComplete({ width, height }: RequestValues, context: RequestContext): ReturnType<Rule> {
  const { sizeRequired, isMeant } = context;
  if (sizeRequired === undefined) return [];
  const missing = (['width', 'height'] as const).filter((side) => !isMeant(side));
  const pixels = (width ?? 0) * (height ?? 0);
  const got = `${NUMBER.format(pixels)} (${width}x${height})`;
  const detail = `Width times height must be at most ${NUMBER.format(MAX_CANVAS_PIXELS)} pixels; got ${got}.`;
  return [
    ...missing.map((side) => fault(side, 'required', `${capitalize(side)} in pixels is required ${sizeRequired}.`)),
    pixels > MAX_CANVAS_PIXELS && fault('width', 'out_of_range', detail),
  ];
}

/** Whether a file to fetch is a video isn't known yet. */
function videoSidesFit({ width, height, format, at, fit }: RequestValues, context: RequestContext): ReturnType<Rule> {
  const isVideo = context.source === 'video' || format === 'mp4' || at !== undefined;
  return fit && context.hasAsset && isVideo ? videoSideFaults({ width, height }) : [];
}

function fitNeedsAsset(values: RequestValues, { hasAsset }: RequestContext): ReturnType<Rule> {
  const detail = 'Fit changes the size of an asset. Send one in asset or asset_url, or leave out fit.';
  const fit = values.fit ?? {};
  const { mode } = fit;
  const isColored = 'color' in fit && mode !== undefined && mode !== 'pad';
  return [
    isColored && { pointer: '#/fit/color', code: 'conflict', detail: `Color is for pad; ${mode} has none.` },
    !hasAsset && 'fit' in values && fault('fit', 'conflict', detail),
  ];
}

function fileFitsSource(values: RequestValues, { source }: RequestContext): ReturnType<Rule> {
  const { format, at, max_bytes: maxBytes, quality } = values;
  const isBoth = maxBytes !== undefined && quality !== undefined;
  return [
    ...outputFaults({ format, at, maxBytes }, source),
    isBoth && fault('max_bytes', 'conflict', 'Send either max_bytes or quality, not both.'),
  ];
}

function clipHasNoAsset(values: RequestValues, { source, isLayout, hasAsset }: RequestContext): ReturnType<Rule> {
  if (source === 'clip') return [];
  const noLength = 'Duration is for a request without an asset, whose own length counts.';
  const noRate = 'Fps is for a transparent video. Send duration, and no asset.';
  return [
    'duration' in values && !isLayout && hasAsset && fault('duration', 'conflict', noLength),
    'fps' in values && fault('fps', 'conflict', noRate),
  ];
}

const MAX_SHORT_SIDE = 1_920;
const MAX_LONG_SIDE = 4_096;
/** Formats whose files grow with every frame, or that few programs play for long. */
const SHORT_FORMATS: ReadonlySet<OutputFormat> = new Set(['mov', 'apng']);
const MAX_SHORT_SECONDS = 60;

function clipIsSmall(values: RequestValues, { source }: RequestContext): ReturnType<Rule> {
  const { duration, width, height, format = defaultFormat('clip') } = values;
  if (source !== 'clip' || duration === undefined) return [];
  const isLong = SHORT_FORMATS.has(format) && duration > MAX_SHORT_SECONDS;
  const tooLong = `A transparent video can have up to ${MAX_SHORT_SECONDS} seconds as ${format}; got ${duration}. Use webm for longer ones.`;
  const length = isLong && fault('duration', 'out_of_range', tooLong);
  if (width === undefined || height === undefined) return [length];
  const isLarge = Math.min(width, height) > MAX_SHORT_SIDE || Math.max(width, height) > MAX_LONG_SIDE;
  const tooLarge = `A transparent video can have ${MAX_SHORT_SIDE} pixels on the shorter side and ${MAX_LONG_SIDE} on the longer one; got ${width}x${height}.`;
  const odd = (['width', 'height'] as const).filter((side) => format === 'webm' && Number(values[side]) % 2 !== 0);
  return [
    length,
    isLarge && fault('width', 'out_of_range', tooLarge),
    ...odd.map((side) => fault(side, 'out_of_range', `The sides of a WebM must be even; got ${values[side]}.`)),
  ];
}

function layoutOfVideoHasDuration(values: RequestValues, { isLayout }: RequestContext): ReturnType<Rule> {
  if (!isLayout || 'duration' in values) return [];
  const [what] = [...(values.at === undefined ? [] : ['At needs']), ...('captions' in values ? ['Captions need'] : [])];
  return [what !== undefined && fault('duration', 'required', `${what} a video. Send its length in seconds.`)];
}

function deliveryIsOneWay(values: RequestValues, { sent }: RequestContext): ReturnType<Rule> {
  const { async: isAsync, deliver } = values;
  const noBytes = 'An asynchronous request gets a link. Leave deliver out, or send url.';
  const onlyPut = 'Send either put_url or deliver. With put_url, the file goes only there.';
  const noPut = 'put_headers are for the request to put_url. Send put_url, too.';
  return [
    isAsync === true && deliver === 'bytes' && fault('deliver', 'conflict', noBytes),
    'put_url' in values && 'deliver' in values && fault('put_url', 'conflict', onlyPut),
    'put_headers' in values && !sent.has('put_url') && fault('put_headers', 'conflict', noPut),
  ];
}

function putHeadersAreAllowed({ put_headers: headers = {} }: RequestValues): ReturnType<Rule> {
  const refused = Object.keys(headers).filter((name) => !isAllowedHeader(name));
  return refused.map((name) => ({
    pointer: `#/put_headers${pointerTo(name).slice(1)}`,
    code: 'invalid_choice',
    detail: `The header ${quoteValue(name)} can't be set. Allowed are cache-control and names that begin with x-amz-, x-ms- or x-goog-.`,
  }));
}

function putHeadersAreSentOnce({ put_headers: headers = {} }: RequestValues): ReturnType<Rule> {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return Object.keys(headers).map(
    (name, index) =>
      names.indexOf(name.toLowerCase()) < index && {
        pointer: `#/put_headers${pointerTo(name).slice(1)}`,
        code: 'duplicate',
        detail: `The header ${quoteValue(name)} is in put_headers more than once; upper and lower case are the same.`,
      },
  );
}

function fault(name: FieldName, code: FaultCode, detail: string): FieldFault {
  return { pointer: `#/${name}`, code, detail };
}
