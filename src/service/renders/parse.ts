// Parses the received form. Faults of fields come before those of the asset.

import { type Form, readFields } from '../../engine/caption/field-reader.ts';
import {
  type CaptionForm,
  overlaysOf,
  parseFields,
  refuseBrandFiles,
  type RenderRequest,
} from '../../engine/caption/form.ts';
import { assertFormatFits, type RequestedOutput } from '../../engine/caption/format-field.ts';
import type { Overlay } from '../../engine/caption/overlay.ts';
import type { CheckUrl } from '../../engine/caption/request-rules.ts';
import { AppError } from '../../shared/errors.ts';
import { type Asset, createAsset } from '../../engine/media/asset.ts';
import { KIND_OF_FORMAT } from '../../engine/media/sniff.ts';
import { must } from '../../shared/must.ts';
import type { BaseLayer } from '../../engine/render/compose.ts';
import type { RequestType } from '../telemetry/metrics.ts';
import type { FetchPolicy } from '../fetch/fetch-policy.ts';
import type { ReadRequest, ReceivedForm } from './received-form.ts';
import type { ReceivedFile } from '../../engine/media/receive-asset.ts';

interface Captions extends Pick<RenderRequest, 'strict' | 'output' | 'delivery' | 'logo'> {
  /** The request that is stored if it is accepted. */
  readonly request: RenderRequest;
  readonly overlays: readonly Overlay[];
  /** Present when the captions come from the video's speech. */
  readonly speech: Speech | undefined;
}

/** The part of a request that needs a transcript. */
export interface Speech {
  /** The language that the request names. */
  readonly lang: string | undefined;
  /** The captions, with every other field of the request. */
  readonly overlaysFor: (transcript: unknown) => Promise<readonly Overlay[]>;
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

/** Decodes the fields of a request with a key. Names are looked up before `parseRequest` checks the values. */
export function readForm(form: ReceivedForm): ReadRequest {
  return { ...readFields({ ...withKind(form), allowsSpeech: true }), asset: form.asset };
}

export async function parseRequest(
  read: ReadRequest,
  policy: Pick<FetchPolicy, 'faultOf'>,
): Promise<ParsedRequest | UnfetchedRequest> {
  const checkUrl: CheckUrl = (url, purpose) => policy.faultOf(url, purpose);
  return await prepare(await parseFields(read, checkUrl), read.asset);
}

/** Turns an accepted request into what is rendered. */
export async function prepare(
  request: RenderRequest & Partial<CaptionForm>,
  file: ReceivedFile | undefined,
): Promise<ParsedRequest | UnfetchedRequest> {
  const { overlays = await overlaysOf(request), ...stored } = request;
  const { strict, output, delivery, logo, assetUrl, canvas, look } = stored;
  const overlaysFor = async (transcript: unknown): Promise<readonly Overlay[]> => await overlaysOf(stored, transcript);
  const speech = stored.speech && { lang: look.lang, overlaysFor };
  const captions = { request: stored, overlays, strict, output, delivery, logo, speech };
  if (assetUrl !== undefined) return { ...captions, assetUrl: new URL(assetUrl) };
  if (file) return { ...captions, asset: acceptAsset(file, output), canvas: undefined };
  return { ...captions, asset: undefined, canvas: { kind: 'canvas', ...must(canvas, 'the size of the canvas') } };
}

/** Parses requests of callers that may not let the server fetch files. */
export async function parseUpload(form: ReceivedForm): Promise<ParsedRequest> {
  const fault = { code: 'forbidden_address', detail: 'Upload the file in asset. URLs need an API key.' } as const;
  const noWebhook = { code: 'forbidden_address', detail: 'Webhooks need an API key.' } as const;
  const noPut = { code: 'forbidden_address', detail: 'put_url needs an API key.' } as const;
  const faultFor = { asset: fault, webhook: noWebhook, put: noPut };
  const parsed = await parseFields(readFields(withKind(form)), (_url, purpose) => faultFor[purpose ?? 'asset']);
  refuseBrandFiles(parsed);
  const ready = await prepare(parsed, form.asset);
  if ('assetUrl' in ready) throw new Error('a URL was not refused');
  return ready;
}

/** Returns the file of a request without captions. */
export function acceptUpload({ asset }: ReceivedForm): Asset {
  if (asset === undefined) {
    const fault = { pointer: '#/asset', code: 'required', detail: 'Send a file in asset.' } as const;
    throw new AppError('invalid_fields', fault.detail, { faults: [fault] });
  }
  return acceptAsset(asset, {});
}

/** Replaces the URL with the fetched file. Only now is it known what the requested format must fit. */
export function withFetched(request: UnfetchedRequest, file: ReceivedFile): ParsedRequest {
  const { assetUrl: _url, ...captions } = request;
  const asset = acceptAsset(file, captions.output);
  assertFormatFits(captions.output, outputSourceOf(file));
  return { ...captions, asset, canvas: undefined };
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
