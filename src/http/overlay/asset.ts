// What a request sent and wants, between its form and its render.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PlanLimits } from '../../account/plans.ts';
import type { CaptionForm } from '../../caption/form.ts';
import type { StoredAsset } from '../../dispatch/renderer.ts';
import { AppError } from '../../errors.ts';
import { type AssetFormat, type AssetKind, KIND_OF_FORMAT } from '../../media/sniff.ts';
import type { BaseLayer } from '../../render/compose.ts';
import type { ReceivedForm } from './receive.ts';
import type { AssetDestination, ReceivedAsset } from './receive-asset.ts';

export interface ParsedRequest extends CaptionForm {
  readonly form: ReceivedForm;
  readonly asset: (StoredAsset & { readonly kind: AssetKind }) | undefined;
  readonly receiveMs: number;
}

export function assetDestination(
  path: string,
  { imageBytes, videoBytes }: PlanLimits,
  more: Pick<AssetDestination, 'hash' | 'onFormat' | 'prepare'> = { hash: false },
): AssetDestination {
  const maxBytesOf = (format: AssetFormat): number => (KIND_OF_FORMAT[format] === 'image' ? imageBytes : videoBytes);
  return { path, maxBytes: Math.max(imageBytes, videoBytes), maxBytesOf, ...more };
}

export function acceptAsset({ path, format, bytes }: ReceivedAsset): NonNullable<ParsedRequest['asset']> {
  if (format !== undefined) return { path, format, kind: KIND_OF_FORMAT[format] };
  const formats = 'JPEG, PNG or WebP image, nor an MP4, MOV or WebM video';
  const detail = bytes === 0 ? 'The asset is empty.' : `The asset, judged by its bytes, is neither a ${formats}.`;
  throw new AppError('unsupported_asset', detail);
}

export function canvasOf({ canvas }: CaptionForm): Extract<BaseLayer, { readonly kind: 'canvas' }> {
  if (canvas === undefined) throw new Error('a form without asset was accepted without a size');
  return { kind: 'canvas', ...canvas };
}

/** The body's size as far as it is announced; without that, room for an image. */
export function announcedBytes(request: FastifyRequest, { imageBytes }: PlanLimits): number {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  return Number.isFinite(announced) ? announced : imageBytes;
}

/** `Expect: 100-continue`: whoever waits for leave to upload gets it once key and size are in order. */
export function inviteBody(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
}
