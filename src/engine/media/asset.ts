// An uploaded file on disk, from the moment it is complete until its render is delivered.

import { type AssetFormat, type AssetKind, isHeifFormat, KIND_OF_FORMAT } from './sniff.ts';

export interface Asset {
  readonly path: string;
  readonly format: AssetFormat;
  readonly kind: AssetKind;
  readonly bytes: number;
  /** Hexadecimal. Computed only for requests with an idempotency key. */
  readonly sha256?: string;
}

/**
 * Returns the kind of worker that reads an asset. HEIC and AVIF are images, but only the workers for videos have their
 * decoders.
 */
export function workerKindFor({ kind, format }: Pick<Asset, 'kind' | 'format'>): AssetKind {
  return isHeifFormat(format) ? 'video' : kind;
}

export function createAsset({ path, format, bytes, sha256 }: Omit<Asset, 'kind'>): Asset {
  return { path, format, kind: KIND_OF_FORMAT[format], bytes, ...(sha256 !== undefined && { sha256 }) };
}
