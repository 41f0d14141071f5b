// Parses the received form. Faults of fields come before those of the asset.

import type { Form } from '../caption/field-reader.ts';
import { type CaptionForm, type Delivery, parseForm, refuseBrandFiles, type Speech } from '../caption/form.ts';
import { assertFormatFits, type RequestedOutput } from '../caption/format-field.ts';
import type { RequestedLogo } from '../caption/logo.ts';
import type { Overlay } from '../caption/overlay.ts';
import { AppError } from '../errors.ts';
import { type Asset, createAsset } from '../media/asset.ts';
import { KIND_OF_FORMAT } from '../media/sniff.ts';
import { must } from '../primitives/must.ts';
import type { BaseLayer } from '../render/compose.ts';
import type { RequestType } from '../telemetry/metrics.ts';
import type { FetchPolicy } from '../fetch/fetch-policy.ts';
import type { ReceivedForm } from './received-form.ts';
import type { ReceivedFile } from '../media/receive-asset.ts';

interface Captions {
  readonly overlays: readonly Overlay[];
  /** True if warnings about the layout are errors. */
  readonly strict: boolean;
  readonly output: RequestedOutput;
  readonly delivery: Delivery;
  readonly logo: RequestedLogo | undefined;
  /** Present when the captions come from the video's speech. */
  readonly speech: Speech | undefined;
}

/** Captions on an asset, or on an empty canvas. */
export type ParsedRequest = Captions &
  (
    | { readonly asset: Asset; readonly canvas: undefined }
    | { readonly asset: undefined; readonly canvas: Extract<BaseLayer, { readonly kind: 'canvas' }> }
  );

/** Captions on an asset that has to be fetched first. */
export interface UnfetchedRequest extends Captions {
  readonly assetUrl: URL;
}

export function parseRequest(
  form: ReceivedForm,
  policy: Pick<FetchPolicy, 'faultOf'>,
): ParsedRequest | UnfetchedRequest {
  const parsed = parseForm({ ...withKind(form), allowsSpeech: true }, (url, purpose) => policy.faultOf(url, purpose));
  const { overlays, strict, output, delivery, logo, speech, assetUrl } = parsed;
  return assetUrl ? { overlays, strict, output, delivery, logo, speech, assetUrl } : onReceived(parsed, form);
}

/** Parses requests of callers that may not let the server fetch files. */
export function parseUpload(form: ReceivedForm): ParsedRequest {
  const fault = { code: 'forbidden_address', detail: 'Upload the file in asset. URLs need an API key.' } as const;
  const noWebhook = { code: 'forbidden_address', detail: 'Webhooks need an API key.' } as const;
  const noPut = { code: 'forbidden_address', detail: 'put_url needs an API key.' } as const;
  const faultFor = { asset: fault, webhook: noWebhook, put: noPut };
  const parsed = parseForm(withKind(form), (_url, purpose) => faultFor[purpose ?? 'asset']);
  refuseBrandFiles(parsed);
  return onReceived(parsed, form);
}

/** Returns the file of a request without captions. */
export function acceptUpload({ asset }: ReceivedForm): Asset {
  if (asset === undefined) {
    const fault = { pointer: '#/asset', code: 'required', detail: 'Send a file in asset.' } as const;
    throw new AppError('invalid_fields', fault.detail, { faults: [fault] });
  }
  return acceptAsset(asset, {});
}

function onReceived(parsed: CaptionForm, form: ReceivedForm): ParsedRequest {
  const { overlays, strict, output, delivery, logo, speech } = parsed;
  const captions = { overlays, strict, output, delivery, logo, speech };
  if (form.asset) return { ...captions, asset: acceptAsset(form.asset, output), canvas: undefined };
  const canvas = { kind: 'canvas', ...must(parsed.canvas, 'the size of the canvas') } as const;
  return { ...captions, asset: undefined, canvas };
}

/** Replaces the URL with the fetched file. Only now is it known what the requested format must fit. */
export function withFetched(request: UnfetchedRequest, file: ReceivedFile): ParsedRequest {
  const { overlays, strict, output, delivery, logo, speech } = request;
  const asset = acceptAsset(file, output);
  assertFormatFits(output, outputSourceOf(file));
  return { overlays, strict, output, delivery, logo, speech, asset, canvas: undefined };
}

/** Webhooks exist only for stored renders. */
export function assertWebhookFits({ delivery }: ParsedRequest | UnfetchedRequest): void {
  if (delivery.webhookUrl === undefined || delivery.isLink || delivery.put) return;
  const detail = 'Send webhook_url with async, with prefer: respond-async, with deliver=url, or with put_url.';
  throw new AppError('invalid_fields', detail, { faults: [{ pointer: '#/webhook_url', code: 'conflict', detail }] });
}

/** Returns undefined until a URL has been fetched. */
export function requestTypeOf(request: ParsedRequest | UnfetchedRequest): RequestType {
  return 'assetUrl' in request ? 'none' : (request.asset?.kind ?? 'overlay');
}

function withKind(form: ReceivedForm): Form {
  return form.asset?.format === undefined ? form : { ...form, assetKind: outputSourceOf(form.asset) };
}

/** The requested format decides whether an animation is an image or a video. */
function outputSourceOf({ format, isAnimation }: ReceivedFile): 'image' | 'animation' | 'video' {
  return isAnimation ? 'animation' : KIND_OF_FORMAT[must(format, 'the format of an accepted asset')];
}

function acceptAsset({ path, isAnimation, bytes, sha256, ...found }: ReceivedFile, output: RequestedOutput): Asset {
  const isMoving = isAnimation && (output.format === 'mp4' || output.at !== undefined);
  const format = isMoving ? 'animation' : found.format;
  if (format !== undefined) return createAsset({ path, format, bytes, ...(sha256 !== undefined && { sha256 }) });
  const detail =
    bytes === 0
      ? 'The asset is empty.'
      : 'The asset must be a JPEG, PNG, WebP, HEIC, AVIF or GIF image, or an MP4, MOV, WebM or Matroska video. Its content matches none of them.';
  throw new AppError('unsupported_asset', detail);
}
