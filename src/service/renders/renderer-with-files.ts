// Gives every render the uploaded fonts that its captions name. Workers get copies of the files, because they
// can't reach the storage.

import { unknownFont } from '../../engine/caption/text-rules.ts';
import type { Lease, LeaseRequest, Renderer, RendererStatus, RenderJob } from '../dispatch/renderer.ts';
import { AppError } from '../../shared/errors.ts';
import type { FileCache } from '../../engine/media/file-cache.ts';
import type { RenderFile } from '../../engine/media/render-file.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import { ownFontsOf } from '../../engine/render/own-fonts.ts';
import type { RenderFacts } from '../../engine/render/render.ts';

/** A file of an account that renders use. */
export type AccountFile = Omit<RenderFile, 'path'>;

export interface AccountFiles {
  /** Also finds a file that was deleted after the render was accepted. */
  find(accountId: string, id: string): Promise<AccountFile | undefined>;
  /** Writes a copy to a new local file. */
  copyTo(file: AccountFile, path: string, signal: AbortSignal): Promise<void>;
}

export class RendererWithFiles implements Renderer {
  readonly #renderer: Renderer;
  readonly #files: AccountFiles;
  readonly #cache: FileCache;

  constructor(renderer: Renderer, files: AccountFiles, cache: FileCache) {
    this.#renderer = renderer;
    this.#files = files;
    this.#cache = cache;
  }

  open(request: LeaseRequest): Lease {
    const lease = this.#renderer.open(request);
    return {
      choose: (kind) => lease.choose(kind),
      enter: (kind) => lease.enter(kind),
      probe: async (asset, limits) => await lease.probe(asset, limits),
      render: async (job, onProgress) =>
        await this.#withFiles(request, job, async (complete) => await lease.render(complete, onProgress)),
      assertFeasible: (recipe) => lease.assertFeasible(recipe),
      leave: () => lease.leave(),
      close: () => lease.close(),
    };
  }

  refusal(account: string, kind: AssetKind): AppError | undefined {
    return this.#renderer.refusal(account, kind);
  }

  status(): RendererStatus {
    return this.#renderer.status();
  }

  async close(): Promise<void> {
    await this.#renderer.close();
  }

  async #withFiles(
    { account, signal }: LeaseRequest,
    job: RenderJob,
    render: (job: RenderJob) => Promise<RenderFacts>,
  ): Promise<RenderFacts> {
    const ids = 'overlays' in job.recipe ? ownFontsOf(job.recipe.overlays) : [];
    if (ids.length === 0) return await render(job);
    const found = await Promise.all(ids.map(async (id) => await this.#find(account, id)));
    return await this.#held(found, signal, async (files) => await render({ ...job, files }));
  }

  async #find(account: string, id: string): Promise<AccountFile> {
    const file = await this.#files.find(account, id);
    if (file !== undefined) return file;
    const fault = { pointer: '#/style/font', ...unknownFont(id) };
    throw new AppError('invalid_fields', fault.detail, { faults: [fault] });
  }

  async #held(
    [file, ...others]: readonly AccountFile[],
    signal: AbortSignal,
    use: (files: readonly RenderFile[]) => Promise<RenderFacts>,
  ): Promise<RenderFacts> {
    if (file === undefined) return await use([]);
    return await this.#cache.with(
      file,
      async (path) => await this.#files.copyTo(file, path, signal),
      async (path) => await this.#held(others, signal, async (rest) => await use([{ ...file, path }, ...rest])),
    );
  }
}
