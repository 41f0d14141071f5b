// The preview of a style or font: a caption, drawn by the renderer as a transparent image that the page lays over a photo.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { SavedLogos } from '../../service/brand/saved-logos.ts';
import type { SavedStyle } from '../../engine/caption/saved-style.ts';
import { parseForm } from '../../engine/caption/form.ts';
import { type Renderer, withLease } from '../../service/dispatch/renderer.ts';
import { AppError } from '../../shared/errors.ts';
import type { Size } from '../../engine/layout/geometry.ts';
import type { FailedDecodes } from '../../service/limits/failed-decodes.ts';
import { LocalLimits } from '../../service/limits/local-limits.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import type { WorkArea } from '../../engine/media/work-area.ts';
import { composeRecipe } from '../../engine/render/compose.ts';
import { FREE, performRender } from '../../service/renders/perform-render.ts';
import type { Plan } from '../../service/account/plans.ts';
import { must } from '../../shared/must.ts';

export const PREVIEW_SIZE = { width: 540, height: 675 } as const;
export const SPECIMEN_SIZE = { width: 540, height: 300 } as const;
const TEXT = 'Golden hour at the pier ☀️';
/** Previews are free, so an account has only a few at a time. */
const MAX_OPEN = 4;

export interface StylePreviewDependencies {
  readonly renderer: Pick<Renderer, 'open'>;
  readonly workArea: WorkArea;
  readonly logos: Pick<SavedLogos, 'load'>;
  readonly failedDecodes: FailedDecodes;
  /** Previews have the limits of this plan. */
  readonly plan: Plan;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
  readonly shutdown: AbortSignal;
}

interface PreviewSample extends Size {
  readonly text: string;
}

export class StylePreviews {
  readonly #dependencies: StylePreviewDependencies;
  readonly #open = new LocalLimits();

  constructor(dependencies: StylePreviewDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns a PNG. */
  async draw(
    accountId: string,
    style: SavedStyle,
    sample: PreviewSample = { text: TEXT, ...PREVIEW_SIZE },
  ): Promise<Buffer> {
    const { failedDecodes, plan } = this.#dependencies;
    failedDecodes.assertFew({ accountId, plan });
    const leave = await this.#open.enter(accountId, MAX_OPEN);
    if (leave === undefined) {
      throw new AppError('too_many_renders', 'Too many previews at a time. Try again.', { retryAfterSeconds: 1 });
    }
    try {
      return await this.#render(accountId, style, sample);
    } finally {
      leave();
    }
  }

  async #render(accountId: string, style: SavedStyle, sample: PreviewSample): Promise<Buffer> {
    const { renderer, workArea, logos, failedDecodes, plan, deadlineMs, shutdown: signal } = this.#dependencies;
    const { limits } = plan;
    const { position, safe_area: safeArea, max_words: _words, max_lines: _lines, ...look } = style;
    const values = {
      ...sample,
      position: position ?? null,
      safe_area: safeArea ?? null,
      style: look,
    };
    const fields = Object.entries(values).map(([name, value]) => ({ name, value }));
    const form = parseForm({ fields, isJson: true, hasAsset: false, faults: [] });
    const logo = await logos.load(accountId, form.logo);
    const canvas = { kind: 'canvas', ...must(form.canvas, 'the size of the preview') } as const;
    const directory = workArea.lazyDirectory(randomUUID());
    const request = { account: accountId, class: 'layout', budgetMs: deadlineMs, signal } as const;
    try {
      return await withLease(
        renderer,
        request,
        async (lease) =>
          await performRender({
            renderId: 'style-preview',
            lease,
            directory,
            signal,
            limits,
            source: { asset: undefined, canvas },
            compose: (base) => composeRecipe(base, form.overlays, limits, { logo }),
            reserve: async () => FREE,
            deliver: async ({ file }) => await readFile(file),
            onFailure: async (error) => await failedDecodes.count({ accountId, plan }, error),
          }),
      );
    } finally {
      await directory.remove();
    }
  }
}
