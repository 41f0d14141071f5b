// Lets a command take a URL in place of a file. The rules are those of `asset_url` in the API, but any address is allowed:
// on the command line, the URL comes from the person who runs it.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DEFAULT_PLANS } from '../service/account/plans.ts';
import { parseAssetUrl } from '../engine/caption/asset-url.ts';
import { AssetFetcher } from '../service/fetch/asset-fetcher.ts';
import { FetchPolicy } from '../service/fetch/fetch-policy.ts';
import { KIND_OF_FORMAT } from '../engine/media/sniff.ts';
import { VERSION } from '../main/version.ts';
import { AppError } from '../shared/errors.ts';
import { UsageError } from './exit-codes.ts';

/** Calls `use` with the path of the downloaded file and the last part of the URL, then deletes the file. */
export async function withDownload(text: string, use: (file: string, name: string) => Promise<void>): Promise<void> {
  const url = parseAssetUrl(text);
  if (!(url instanceof URL)) throw new UsageError(url.detail);
  const folder = await mkdtemp(path.join(tmpdir(), 'storybar-'));
  try {
    const file = path.join(folder, 'asset');
    const { imageBytes, videoBytes } = DEFAULT_PLANS.lowest.limits;
    const fetcher = new AssetFetcher({ policy: new FetchPolicy('any', []), userAgent: `storybar/${VERSION}` });
    const destination = {
      path: file,
      prepare: async () => undefined,
      maxBytes: Math.max(imageBytes, videoBytes),
      maxBytesOf: (format: keyof typeof KIND_OF_FORMAT) =>
        KIND_OF_FORMAT[format] === 'image' ? imageBytes : videoBytes,
      assertRoom: () => undefined,
      reserve: () => undefined,
      hash: false,
    };
    const { format } = await fetcher.fetch(url, destination, new AbortController().signal);
    if (format === undefined) throw new AppError('unsupported_asset', `${url.href} isn't an image or video.`);
    await use(file, path.posix.basename(url.pathname) || 'asset');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
