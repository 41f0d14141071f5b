// Logos of an account: uploads, changes, and their use in renders.

import { randomUUID } from 'node:crypto';
import type { Caller } from '../account/caller.ts';
import type { ResponseOf } from '../api/response-schemas.ts';
import { LOGO_FORMATS, MAX_LOGO_PIXELS, MAX_LOGO_PNG_BYTES, type RequestedLogo } from '../../engine/caption/logo.ts';
import { unknownLogo } from '../../engine/caption/text-rules.ts';
import { type Renderer, withLease } from '../dispatch/renderer.ts';
import { AppError } from '../../shared/errors.ts';
import type { Size } from '../../engine/layout/geometry.ts';
import type { FailedDecodes } from '../limits/failed-decodes.ts';
import { type Asset, createAsset } from '../../engine/media/asset.ts';
import type { ReceivedFile } from '../../engine/media/receive-asset.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import type { LazyDirectory, WorkArea } from '../../engine/media/work-area.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';
import { composeRecipe } from '../../engine/render/compose.ts';
import type { RecipeLogo } from '../../engine/render/logo.ts';
import { FREE, performRender } from '../renders/perform-render.ts';
import type { Actor } from '../store/audit.ts';
import type { BrandFile } from '../store/brand/brand-files.ts';
import type { SavedFiles } from './saved-files.ts';

export const LOGOS_PATH = '/v1/logos';

export interface SavedLogosOptions {
  readonly files: SavedFiles;
  readonly renderer: Pick<Renderer, 'open'>;
  readonly workArea: WorkArea;
  readonly failedDecodes: FailedDecodes;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
}

interface LogoUpload {
  readonly caller: Caller;
  readonly file: ReceivedFile;
  readonly actor: Actor;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** How many logos are kept in memory, so that they aren't read for every render. Each has at most 1 MB. */
const KEPT_LOGOS = 16;
/** PNGs of fewer pixels are smaller, but not exactly in proportion. */
const SAFE_SHRINK = 0.9;
const MAX_ATTEMPTS = 4;

export class SavedLogos {
  readonly #options: SavedLogosOptions;
  /** Base64 by the id of the logo, whose image never changes. */
  readonly #images = new BoundedMap<string, string>(KEPT_LOGOS);

  constructor(options: SavedLogosOptions) {
    this.#options = options;
  }

  /** Refuses an upload before it is received. */
  async assertRoom(caller: Caller): Promise<void> {
    await this.#options.files.assertRoom(caller, 'logo');
  }

  /** Decodes the file in a worker, which writes it anew as a PNG. Only that is stored. */
  async add(upload: LogoUpload): Promise<BrandFile> {
    const { files, workArea } = this.#options;
    const { caller, file, actor, signal } = upload;
    const asset = assetOf(file);
    const directory = workArea.lazyDirectory(randomUUID());
    try {
      const { width, height, ...written } = await this.#rewrite(upload, asset, directory);
      const { path, bytes } = written;
      return await files.add(caller, { kind: 'logo', path, bytes, facts: { width, height } }, actor, signal);
    } finally {
      await directory.remove();
    }
  }

  async list(accountId: string): Promise<BrandFile[]> {
    return await this.#options.files.list(accountId, 'logo');
  }

  async find(accountId: string, id: string): Promise<BrandFile> {
    return await this.#options.files.find(accountId, 'logo', id);
  }

  async remove(accountId: string, id: string, actor: Actor): Promise<void> {
    await this.#options.files.remove(accountId, 'logo', id, actor);
  }

  /** The PNG, for the pages of the account. */
  async read(accountId: string, id: string): Promise<Buffer> {
    return await this.#options.files.read(await this.find(accountId, id));
  }

  /** The logo of an accepted request, as part of its recipe. */
  async load(accountId: string, requested: RequestedLogo | undefined): Promise<RecipeLogo | undefined> {
    if (requested === undefined) return undefined;
    const file = await this.#kept(accountId, requested);
    const known = this.#images.get(file.id);
    const png = known ?? (await this.#options.files.read(file)).toString('base64');
    if (known === undefined) this.#images.set(file.id, png);
    return { ...toRecipe(requested, file), png };
  }

  /** Like `load`, for a layout, which needs only the size of the logo. */
  async measure(accountId: string, requested: RequestedLogo | undefined): Promise<RecipeLogo | undefined> {
    return requested && toRecipe(requested, await this.#kept(accountId, requested));
  }

  async #kept(accountId: string, { id }: RequestedLogo): Promise<BrandFile> {
    const file = await this.#options.files.findForRender(accountId, 'logo', id);
    if (file !== undefined) return file;
    const fault = { pointer: '#/style/logo/id', ...unknownLogo(id) };
    throw new AppError('invalid_fields', fault.detail, { faults: [fault] });
  }

  /** A logo whose PNG is too large is stored with fewer pixels. */
  async #rewrite(upload: LogoUpload, asset: Asset, directory: LazyDirectory): Promise<WrittenLogo> {
    let side: number | undefined;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const logo = await this.#render(upload, asset, directory, side);
      if (logo.bytes <= MAX_LOGO_PNG_BYTES) return logo;
      const share = Math.sqrt(MAX_LOGO_PNG_BYTES / logo.bytes) * SAFE_SHRINK;
      side = Math.max(1, Math.floor(Math.max(logo.width, logo.height) * share));
    }
    const detail = `The logo has more than ${MAX_LOGO_PNG_BYTES} bytes as a PNG, however small it is. Use a simpler one.`;
    throw new AppError('asset_too_large', detail, { limit: { limit: MAX_LOGO_PNG_BYTES, actual: asset.bytes } });
  }

  /** As an image without captions. */
  async #render(
    { caller, requestId: renderId, signal }: LogoUpload,
    asset: Asset,
    directory: LazyDirectory,
    maxSide: number | undefined,
  ): Promise<WrittenLogo> {
    const { renderer, failedDecodes, deadlineMs } = this.#options;
    const limits = { ...caller.plan.limits, imagePixels: MAX_LOGO_PIXELS };
    const options = { output: { format: 'png' }, ...(maxSide !== undefined && { maxSide }) } as const;
    const request = {
      account: caller.accountId,
      class: 'interactive',
      budgetMs: deadlineMs,
      signal,
      renderId,
    } as const;
    return await withLease(renderer, request, async (lease) => {
      lease.enter('image');
      return await performRender({
        renderId,
        source: { asset, canvas: undefined },
        limits,
        lease,
        directory,
        signal,
        compose: (base) => composeRecipe(base, [], limits, options),
        reserve: async () => FREE,
        deliver: async ({ file: path, bytes, facts: { width, height } }) => ({ path, bytes, width, height }),
        onFailure: async (error) => await failedDecodes.count(caller, error),
      });
    });
  }
}

interface WrittenLogo extends Size {
  readonly path: string;
  readonly bytes: number;
}

/** The facts of a stored logo are its size. */
export function logoSize({ facts }: Pick<BrandFile, 'facts'>): Size {
  return JSON.parse(facts) as Size;
}

export function logoToJson(file: BrandFile): ResponseOf<'Logo'> {
  const { id, bytes, createdAt } = file;
  return { id, ...logoSize(file), bytes, created_at: createdAt };
}

function toRecipe({ id: _id, ...place }: RequestedLogo, file: BrandFile): RecipeLogo {
  return { ...place, pixels: logoSize(file) };
}

function assetOf({ path, format, bytes }: ReceivedFile): Asset {
  if (format === undefined || !LOGO_FORMATS.some((known) => known === format)) {
    throw new AppError('unsupported_asset', 'A logo must be a PNG, WebP or JPEG image. This file is none of them.');
  }
  return createAsset({ path, format, bytes });
}
