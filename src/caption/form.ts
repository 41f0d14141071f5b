// Turns the fields of a request into captions and a canvas size, or reports every invalid field together. The encoding of
// the body and the asset itself are handled by the HTTP layer.

import { invalidFields } from '../errors.ts';
import { parseAssetUrl, type UrlFault } from './asset-url.ts';
import { hasCaptions, isAuto, parseCues, parseSpeech, reportMissingVideo, withWords } from './captions-field.ts';
import { cleanText, isBlank } from './clean.ts';
import { type Delivery, parseDelivery } from './delivery-field.ts';
import { parseLanguage, withLanguage } from './language.ts';
import { type CaptionClip, checkClip, parseFps } from './clip-field.ts';
import { FieldReader, type Form } from './field-reader.ts';
import type { Fit } from './fit.ts';
import { hasFit, parseFit, videoSideFaults } from './fit-field.ts';
import { parseOutput, type RequestedOutput } from './format-field.ts';
import { type Overlay, MAX_CANVAS_PIXELS, MAX_SIDE, MIN_SIDE } from './overlay.ts';
import { checkOverlays, parseOverlays, textFaults } from './overlays-field.ts';
import { parseSafeArea, withSafeArea } from './safe-area-field.ts';
import { checkRequestStyle, parseStyle, withStyle } from './style-field.ts';
import type { RequestedLogo } from './logo.ts';
import { defaultFormat } from './output-format.ts';
import { DEFAULT_FPS, LAYOUT_FIELDS } from './request-fields.ts';
import { parsePaging } from './paging-fields.ts';
import { parsePositionField } from './position-field.ts';
import { parsePut } from './put-fields.ts';
import { parseWebhookUrl } from './webhook-url-field.ts';

export interface CaptionForm {
  readonly overlays: readonly Overlay[];
  /** The size of the transparent overlay. Undefined when there is an asset, which determines the size. */
  readonly canvas: { readonly width: number; readonly height: number } | undefined;
  /** The URL to fetch the asset from. */
  readonly assetUrl: URL | undefined;
  /** If true, warnings about the layout are errors. */
  readonly strict: boolean;
  readonly delivery: Delivery;
  /** The length of the video that a layout is for, in seconds. */
  readonly duration: number | undefined;
  readonly output: RequestedOutput;
  readonly logo: RequestedLogo | undefined;
  /** Present when the captions come from the video's speech. `overlays` is empty until the transcript arrives. */
  readonly speech: Speech | undefined;
}

/** The part of a request that needs a transcript. */
export interface Speech {
  /** The language that the request names. */
  readonly lang: string | undefined;
  /** The captions, with every other field of the request. */
  readonly overlaysFor: (transcript: unknown) => readonly Overlay[];
}

/** Returns the fault of a well-formed URL, if any. */
export type CheckUrl = (url: URL, purpose?: 'webhook' | 'put') => UrlFault | undefined;

const NUMBER = new Intl.NumberFormat('en');

export function parseForm(form: Form, checkUrl: CheckUrl = () => undefined): CaptionForm {
  const fields = new FieldReader(form);
  const look = withLook(parseCaptions(fields, form.speech), fields);
  const overlays = withWords(look.overlays, fields.faults);
  const assetUrl = parseUrl(fields, checkUrl);
  if (form.hasAsset && fields.has('asset_url')) {
    fields.add('asset_url', 'conflict', 'Send either asset or asset_url, not both.');
  }
  const isUrlMeant = fields.has('asset_url') || fields.isUnreadable('asset_url');
  const hasAsset = form.hasAsset || isUrlMeant || fields.hasTextAsset;
  const isLayout = form.allowed !== undefined && 'duration' in form.allowed;
  const isClip = !hasAsset && !isLayout && fields.has('duration');
  const lacksVideo = !hasAsset && !isLayout && !isClip && hasCaptions(fields);
  if (lacksVideo) reportMissingVideo(fields.faults);
  // Without a size, the unknown field was probably meant to be a file.
  const isFileMeant = fields.hasUnknown && !fields.has('width') && !fields.has('height');
  const canvas = hasAsset || lacksVideo || isFileMeant ? undefined : parseCanvas(fields);
  const strict = fields.boolean('strict');
  const webhookUrl = parseWebhookUrl(fields, checkUrl);
  const delivery = { ...parseDelivery(fields), webhookUrl, put: parsePut(fields, checkUrl) };
  const duration = fields.seconds('duration', LAYOUT_FIELDS.duration.maximum);
  const requested = parseOutput(fields, hasAsset ? form.assetKind : sourceWithoutAsset(isLayout, isClip));
  const fit = parseFittedSize(fields, hasAsset, isVideo(form, requested));
  const clip = parseClip(fields, { canvas, duration, isClip, isLayout }, requested);
  const output = { ...requested, ...(fit && { fit }), ...(clip && { clip }) };
  if (isLayout && requested.at !== undefined && !fields.has('duration')) {
    fields.add('duration', 'required', 'At needs a video. Send its length in seconds.');
  } else if (isLayout && hasCaptions(fields) && !fields.has('duration')) {
    fields.add('duration', 'required', 'Captions need a video. Send its length in seconds.');
  }
  if (isAuto(fields) && fields.has('at')) {
    fields.add('at', 'conflict', 'Captions from speech need the whole video. Send its captions, or leave out at.');
  }
  const { faults } = fields;
  const lang = parseLanguage(fields.all('lang')[0], '#/lang', faults);
  if (faults.length > 0) throw invalidFields(faults);
  const overlaysFor = (transcript: unknown): readonly Overlay[] =>
    parseForm({ ...form, speech: { transcript } }, checkUrl).overlays;
  const speech = isAuto(fields) ? { lang, overlaysFor } : undefined;
  const { logo } = look;
  const captions = { overlays: withLanguage(overlays, lang), logo, speech };
  return { ...captions, canvas, assetUrl, strict, delivery, duration, output };
}

/** Faults of the look come after those of the captions. */
function withLook(overlays: readonly Overlay[], fields: FieldReader): Pick<CaptionForm, 'overlays' | 'logo'> {
  const { faults, isJson } = fields;
  const [value] = fields.all('style');
  const isText = typeof value === 'string' && !isJson;
  const parsed = isText ? parseStyle(value, '#/style', faults) : checkRequestStyle(value, '#/style', faults);
  const { logo, ...style } = parsed ?? {};
  const styled = withStyle(overlays, Object.keys(style).length === 0 ? undefined : style, faults);
  return { overlays: withSafeArea(styled, parseSafeArea(fields.all('safe_area')[0], faults)), logo };
}

function parseUrl(fields: FieldReader, checkUrl: CheckUrl): URL | undefined {
  const text = fields.text('asset_url');
  if (text === undefined) return undefined;
  const url = parseAssetUrl(text);
  const fault = url instanceof URL ? checkUrl(url) : url;
  if (fault) fields.add('asset_url', fault.code, fault.detail);
  return url instanceof URL ? url : undefined;
}

/** A blank field counts as absent, so a browser form with an empty input works. */
function parseCaptions(fields: FieldReader, speech: Form['speech']): readonly Overlay[] {
  const { faults } = fields;
  const faultsBefore = faults.length;
  const text = cleanText(fields.text('text') ?? '');
  const captions = hasCaptions(fields) ? fields.all('captions')[0] : fields.text('captions');
  const isMistyped = faults.length > faultsBefore;
  const overlays = fields.all('overlays').filter((value) => typeof value !== 'string' || value.trim() !== '');
  const hasText = !isBlank(text);
  const hasOverlays = overlays.length > 0;
  if (hasText && hasOverlays) fields.add('overlays', 'conflict', 'Send either text or overlays, not both.');
  const position = parsePositionField(fields, hasOverlays);
  const paging = parsePaging(fields);
  if (captions !== undefined && hasCaptions(fields)) {
    if (hasText || hasOverlays) fields.add('captions', 'conflict', 'Send either captions, text or overlays.');
    const options = { position, paging, hasLanguage: fields.has('lang') };
    const cues = isAuto(fields) ? parseSpeech(fields, speech, options) : parseCues(captions, options, faults);
    if (!hasText && !hasOverlays) return cues;
  }
  if (hasOverlays) {
    const parsed = fields.isJson ? checkOverlays(overlays[0], faults) : parseOverlays(overlays.map(String), faults);
    if (hasText) faults.push(...textFaults(text, '#/text'));
    return parsed;
  }
  if (hasText) {
    faults.push(...textFaults(text, '#/text'));
    return [{ text, position: position ?? null }];
  }
  const isUnreadable = (['text', 'overlays', 'captions'] as const).some((name) => fields.isUnreadable(name));
  if (!isMistyped && !isUnreadable) {
    if (fields.has('text')) fields.add('text', 'blank', "Caption can't be empty.");
    else fields.add('text', 'required', 'A caption is required. Send one in text, or several in overlays.');
  }
  return [];
}

function sourceWithoutAsset(isLayout: boolean, isClip: boolean): 'canvas' | 'clip' | undefined {
  if (isLayout) return undefined;
  return isClip ? 'clip' : 'canvas';
}

interface ClipContext extends Pick<CaptionForm, 'canvas' | 'duration'> {
  readonly isClip: boolean;
  readonly isLayout: boolean;
}

function parseClip(
  fields: FieldReader,
  { canvas, duration, isClip, isLayout }: ClipContext,
  { format = defaultFormat('clip') }: RequestedOutput,
): CaptionClip | undefined {
  const fps = parseFps(fields);
  if (!isClip) {
    if (fields.has('duration') && !isLayout) {
      fields.add('duration', 'conflict', 'Duration is for a request without an asset, whose own length counts.');
    }
    if (fields.has('fps'))
      fields.add('fps', 'conflict', 'Fps is for a transparent video. Send duration, and no asset.');
    return undefined;
  }
  if (duration === undefined) return undefined;
  const clip = { seconds: duration, fps: fps ?? DEFAULT_FPS };
  checkClip(fields, clip, canvas, format);
  return clip;
}

/** False also while it isn't known. */
function isVideo({ assetKind }: Form, { format, at }: RequestedOutput): boolean {
  return assetKind === 'video' || format === 'mp4' || at !== undefined;
}

function parseFittedSize(fields: FieldReader, hasAsset: boolean, isForVideo: boolean): Fit | undefined {
  if (!hasFit(fields)) return undefined;
  const fit = parseFit(fields);
  if (!hasAsset) {
    fields.add(
      'fit',
      'conflict',
      'Fit changes the size of an asset. Send one in asset or asset_url, or leave out fit.',
    );
    return undefined;
  }
  const size = parseCanvas(fields, 'with fit', isForVideo);
  return size && fit && { ...fit, ...size };
}

function parseCanvas(fields: FieldReader, when = 'when no asset is sent', isForVideo = false): CaptionForm['canvas'] {
  const width = parseSide('width', fields, when, isForVideo);
  const height = parseSide('height', fields, when, isForVideo);
  if (width === undefined || height === undefined) return undefined;
  if (width * height > MAX_CANVAS_PIXELS) {
    const actual = `${NUMBER.format(width * height)} (${width}x${height})`;
    const detail = `Width times height must be at most ${NUMBER.format(MAX_CANVAS_PIXELS)} pixels; got ${actual}.`;
    fields.add('width', 'out_of_range', detail);
  }
  return { width, height };
}

function parseSide(
  name: 'width' | 'height',
  fields: FieldReader,
  when: string,
  isForVideo: boolean,
): number | undefined {
  const label = name === 'width' ? 'Width' : 'Height';
  if (fields.isUnreadable(name)) return undefined;
  const faultsBefore = fields.faults.length;
  const side = fields.integer(name, 'pixels');
  if (side === undefined) {
    const isReported = fields.faults.length > faultsBefore;
    if (!isReported) fields.add(name, 'required', `${label} in pixels is required ${when}.`);
    return undefined;
  }
  if (side >= MIN_SIDE && side <= MAX_SIDE) {
    if (isForVideo) fields.faults.push(...videoSideFaults(name, side));
    return side;
  }
  fields.add(
    name,
    'out_of_range',
    `${label} must be between ${MIN_SIDE} and ${MAX_SIDE} pixels; got ${fields.shown(name)}.`,
  );
  return undefined;
}
