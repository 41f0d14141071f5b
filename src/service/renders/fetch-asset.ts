// Replaces the URL of a request with the file it points to. The file arrives in the work directory like an upload.

import { AppError } from '../../shared/errors.ts';
import type { AssetFetcher } from '../fetch/asset-fetcher.ts';
import { type ParsedRequest, type UnfetchedRequest, withFetched } from './parse.ts';
import type { AssetDestination } from '../../engine/media/receive-asset.ts';

/**
 * The request holds one of its account's render slots all the time, so an account never fetches more files at once than
 * its plan renders.
 */
export async function fetchAsset(
  fetcher: AssetFetcher,
  request: ParsedRequest | UnfetchedRequest,
  { destination }: { readonly destination: AssetDestination },
  signal: AbortSignal,
  maxSeconds?: number,
): Promise<ParsedRequest> {
  if (!('assetUrl' in request)) return request;
  return withFetched(request, await fetcher.fetch(request.assetUrl, destination, signal, maxSeconds));
}

/** A repeated request is free, so a URL must still return the file that was paid for. An upload is part of the fingerprint. */
export function assertSameAsset(
  { replay }: { readonly replay: { readonly sha256?: string | undefined } | undefined },
  isFetched: boolean,
  sha256: string | undefined,
): void {
  if (!isFetched || replay === undefined || replay.sha256 === sha256) return;
  throw new AppError('idempotency_mismatch', 'The file behind asset_url has changed since the first request.');
}
