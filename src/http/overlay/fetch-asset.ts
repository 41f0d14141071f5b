// Replaces the URL of a request by the file it points to. The file arrives in the work directory like an upload.

import type { AssetFetcher } from '../fetch/asset-fetcher.ts';
import { type ParsedRequest, type UnfetchedRequest, withFetched } from './parse.ts';
import type { Upload } from './receive.ts';

/**
 * The request holds one of its account's render slots all the time, so an account never fetches more files at once than its
 * plan renders.
 */
export async function fetchAsset(
  fetcher: AssetFetcher,
  request: ParsedRequest | UnfetchedRequest,
  { destination }: Pick<Upload, 'destination'>,
  signal: AbortSignal,
  maxSeconds?: number,
): Promise<ParsedRequest> {
  if (!('assetUrl' in request)) return request;
  return withFetched(request, await fetcher.fetch(request.assetUrl, destination, signal, maxSeconds));
}
