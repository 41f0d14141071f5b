// Turns the fields of a request into captions and a canvas size, or reports every invalid field together: each field by its
// schema, then the rules between them. The encoding of the body and the asset itself are handled by the HTTP layer.

import { type FieldFault, invalidFields } from '../../shared/errors.ts';
import { atOnce, inSlices } from '../../shared/slices.ts';
import type { Steps } from '../../shared/steps.ts';
import { type CueOptions, parseCues, withWords } from './captions-field.ts';
import { type Form, type ReadFields, readFields } from './field-reader.ts';
import { DEFAULT_PAD_COLOR } from './fit.ts';
import { isOwnFont } from './fonts.ts';
import type { RequestedOutput } from './format-field.ts';
import { type RequestedLogo, withDefaults } from './logo.ts';
import type { OutputSource } from './output-format.ts';
import { DEFAULT_MAX_LINES, type Overlay, type Paging } from './overlay.ts';
import type { PutRequest } from './put-fields.ts';
import { DEFAULT_FPS, type FieldName, RENDER_FIELDS } from './request-fields.ts';
import { type CheckUrl, isAuto, type RequestContext, RULES, styleOf } from './request-rules.ts';
import { checkFields, type RequestValues } from './request-values.ts';
import type { SafeAreaName } from './safe-area.ts';
import type { CaptionStyle } from './style.ts';

/** A valid request without its uploaded file, as plain JSON. An accepted render is stored as one. */
export interface RenderRequest {
  /** The captions without the look of the request. Empty until there is a transcript, if they come from speech. */
  readonly captions: readonly Overlay[];
  readonly look: RequestLook;
  /** Set when the captions come from the video's speech. */
  readonly speech?: CueOptions | undefined;
  /** The size of the transparent overlay. Undefined when there is an asset, which determines the size. */
  readonly canvas?: { readonly width: number; readonly height: number } | undefined;
  /** The URL to fetch the asset from. */
  readonly assetUrl?: string | undefined;
  /** If true, warnings about the layout are errors. */
  readonly strict: boolean;
  readonly delivery: Delivery;
  /** The length of the video that a layout is for, in seconds. */
  readonly duration?: number | undefined;
  readonly output: RequestedOutput;
  readonly logo?: RequestedLogo | undefined;
}

/** What all captions of a request have in common. */
interface RequestLook {
  readonly style?: CaptionStyle | undefined;
  readonly safeArea?: SafeAreaName | undefined;
  readonly lang?: string | undefined;
}

/** A request with its captions as they are drawn. */
export interface CaptionForm extends RenderRequest {
  readonly overlays: readonly Overlay[];
}

interface Delivery {
  /** If true, the response comes before the render. */
  readonly isAsync: boolean;
  /** If true, the response has a link to the file, as it always has for asynchronous requests. */
  readonly isLink: boolean;
  /** The URL that gets a webhook when the render ends. */
  readonly webhookUrl?: string | undefined;
  /** Where the file is sent to instead of being kept. */
  readonly put?: PutRequest | undefined;
}

/** Parses a request at once. The server uses `parseFields`. */
export function parseForm(form: Form, checkUrl?: CheckUrl): CaptionForm {
  return atOnce(parsingFields(readFields(form), checkUrl));
}

/** Parses a request whose fields have been read, and in which names stand for nothing else any more. */
export async function parseFields(read: ReadFields, checkUrl?: CheckUrl): Promise<CaptionForm> {
  return await inSlices(parsingFields(read, checkUrl));
}

function* parsingFields(read: ReadFields, checkUrl: CheckUrl = () => undefined): Steps<CaptionForm> {
  const context = contextOf(read, checkUrl);
  const faults = [...read.faults];
  const values = checkFields(context.sizeRequired === undefined ? withoutSize(read) : read, faults);
  for (const rule of RULES) for (const fault of rule(values, context)) if (fault) faults.push(fault);
  const isSpoken = isAuto(values);
  const { style: sent, safe_area: safeArea, lang, strict = false, duration, width, height, fit } = values;
  const { logo, ...style } = sent ?? {};
  const look = { style, safeArea, lang };
  const captions = isSpoken ? [] : yield* captionsOf(values, faults, read.maxCaptionsBytes);
  const overlays = yield* withLook(captions, look, faults);
  if (faults.length > 0) throw invalidFields(inOrder(faults, read.allowed ?? RENDER_FIELDS));
  return {
    overlays,
    captions,
    look,
    speech: isSpoken ? cueOptions(values) : undefined,
    canvas: fit || width === undefined || height === undefined ? undefined : { width, height },
    assetUrl: values.asset_url?.href,
    strict,
    duration,
    delivery: deliveryOf(values),
    output: outputOf(values, context.source),
    logo: logo && withDefaults(logo),
  };
}

function contextOf(read: ReadFields, checkUrl: CheckUrl): RequestContext {
  const { values, hasTextAsset, hasUnknown, sent } = read;
  const { allowed = RENDER_FIELDS } = read;
  const isMeant = (name: FieldName): boolean =>
    name in values || (name in allowed && read.faults.some(({ pointer }) => pointer === `#/${name}`));
  const hasAsset = read.hasAsset || isMeant('asset_url') || hasTextAsset;
  const isLayout = read.allowed !== undefined && 'duration' in allowed;
  const isClip = !hasAsset && !isLayout && 'duration' in values;
  const lacksVideo = !hasAsset && !isLayout && !isClip && 'captions' in values;
  // Without a size, the unknown field was probably meant to be a file.
  const isFileMeant = hasUnknown && !('width' in values) && !('height' in values);
  const isCanvas = !hasAsset && !lacksVideo && !isFileMeant;
  const isFitted = hasAsset && 'fit' in values;
  const drawnOn = isClip ? 'clip' : 'canvas';
  return {
    isUploaded: read.hasAsset,
    hasAsset,
    isLayout,
    lacksVideo,
    sizeRequired: isCanvas ? 'when no asset is sent' : isFitted ? 'with fit' : undefined,
    source: hasAsset ? read.assetKind : isLayout ? undefined : drawnOn,
    allowsSpeech: read.allowsSpeech === true,
    sent,
    isMeant,
    checkUrl,
  };
}

/** The size of the asset counts, so nothing about these fields matters. */
function withoutSize(read: ReadFields): ReadFields {
  const { width: _width, height: _height, ...values } = read.values;
  return { ...read, values };
}

function* captionsOf(values: RequestValues, faults: FieldFault[], maxBytes?: number): Steps<readonly Overlay[]> {
  const { text, position = null, overlays, captions } = values;
  const cues = captions === undefined ? [] : yield* parseCues(captions, { ...cueOptions(values), maxBytes }, faults);
  if (overlays) return overlays.map((overlay) => ({ text: '', position: null, ...overlay }));
  return text === undefined ? cues : [{ text, position }];
}

/** Completes captions with the look of their request. */
function* withLook(
  captions: readonly Overlay[],
  { style, safeArea = 'none', lang }: RequestLook,
  faults: FieldFault[],
): Steps<readonly Overlay[]> {
  const complete = captions.map((caption): Overlay => {
    const own = styleOf(caption.style, style);
    return {
      ...(lang !== undefined && { lang }),
      ...caption,
      ...(Object.keys(own).length > 0 && { style: own }),
      ...(safeArea !== 'none' && { safeArea }),
    };
  });
  return yield* withWords(complete, faults);
}

/** Returns the captions as they are drawn. `transcript` is what is said in the video, for captions from speech. */
export async function overlaysOf(request: RenderRequest, transcript?: unknown): Promise<readonly Overlay[]> {
  const faults: FieldFault[] = [];
  const overlays = await inSlices(completeOverlays(request, transcript, faults));
  if (faults.length > 0) throw invalidFields(faults);
  return overlays;
}

function* completeOverlays(
  { captions, look, speech }: RenderRequest,
  transcript: unknown,
  faults: FieldFault[],
): Steps<readonly Overlay[]> {
  const paging = { maxLines: DEFAULT_MAX_LINES };
  const isSpoken = speech !== undefined && transcript !== undefined;
  const said = isSpoken
    ? yield* parseCues(transcript, { ...speech, paging: speech.paging ?? paging }, faults)
    : captions;
  return yield* withLook(said, look, faults);
}

function cueOptions(values: RequestValues): CueOptions {
  const { position, max_words: maxWords, max_lines: maxLines, lang } = values;
  const isPaged = maxWords !== undefined || maxLines !== undefined;
  const paging: Paging = { maxLines: maxLines ?? DEFAULT_MAX_LINES, ...(maxWords !== undefined && { maxWords }) };
  return { position, paging: isPaged ? paging : undefined, hasLanguage: lang !== undefined };
}

function deliveryOf(values: RequestValues): Delivery {
  const { async: isAsync = false, deliver, webhook_url: webhook, put_url: url, put_headers: sent = {} } = values;
  const headers = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    isAsync,
    isLink: isAsync || deliver === 'url',
    webhookUrl: webhook?.href,
    put: url && { url: url.href, headers },
  };
}

function outputOf(values: RequestValues, source: OutputSource | undefined): RequestedOutput {
  const { format, quality, color_space: colorSpace, at, max_bytes: maxBytes, duration, fps = DEFAULT_FPS } = values;
  const { fit, width, height } = values;
  return {
    ...(format !== undefined && { format }),
    ...(quality !== undefined && { quality }),
    ...(colorSpace !== undefined && { colorSpace }),
    ...(at !== undefined && { at }),
    ...(maxBytes !== undefined && { maxBytes }),
    ...(fit?.mode &&
      width !== undefined &&
      height !== undefined && { fit: { color: DEFAULT_PAD_COLOR, mode: fit.mode, ...fit, width, height } }),
    ...(source === 'clip' && duration !== undefined && { clip: { seconds: duration, fps } }),
  };
}

/** Sorts faults by their fields. Those of unknown fields come first. */
function inOrder(faults: readonly FieldFault[], fields: object): FieldFault[] {
  const names = Object.keys(fields);
  const place = ({ pointer }: FieldFault): number => names.indexOf(pointer.split('/')[1] ?? '');
  return faults.toSorted((one, other) => place(one) - place(other));
}

/** Visitors without an account have no logos and fonts of their own. */
export function refuseBrandFiles({ overlays, logo }: Pick<CaptionForm, 'overlays' | 'logo'>): void {
  const faults: FieldFault[] = [];
  if (logo !== undefined) {
    faults.push({ pointer: '#/style/logo/id', code: 'unknown_logo', detail: 'Logos need an API key.' });
  }
  if (overlays.some(({ style }) => isOwnFont(style?.font ?? ''))) {
    const detail = 'Uploaded fonts need an API key of their account.';
    faults.push({ pointer: '#/style/font', code: 'unknown_font', detail });
  }
  if (faults.length > 0) throw invalidFields(faults);
}
