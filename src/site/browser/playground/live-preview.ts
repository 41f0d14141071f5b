// Keeps the overlay on the stage up to date with the draft.

import { Preview, type PreviewRequest } from '../preview.ts';
import { missingGlyphsMessage } from '../problem.ts';
import type { Editor } from './editor.ts';
import type { PriceRules } from './payer.ts';
import { momentOf, previewOf } from './request.ts';
import { filledBars, type State } from './state.ts';

/** Accounts that pay see what they get: without a watermark, in a smaller size. */
function previewSide({ account }: Pick<State, 'account'>, { maxSide, unmarkedSide }: PriceRules): number {
  return account?.mode === 'live' && account.credits > 0 ? unmarkedSide : maxSide;
}

export function livePreview(store: Editor, terms: PriceRules): void {
  let latest: PreviewRequest | undefined;
  const preview = new Preview({
    onResult: async ({ png, rows, missingGlyphs, isMarked }, request) => {
      if (store.state.isMoving || request !== latest) return;
      const bars = filledBars(store.state);
      const bitmap = await createImageBitmap(png);
      // The visitor has changed something in the meantime.
      if (request !== latest) return;
      const { overlay, account } = store.state;
      const isUsedUp = isMarked && previewSide({ account }, terms) === terms.unmarkedSide;
      store.update({
        overlay: { url: URL.createObjectURL(png), bitmap, rows, bars, size: request },
        isBusy: false,
        status: missingGlyphs > 0 ? missingGlyphsMessage(missingGlyphs) : isUsedUp ? MARKED : '',
      });
      if (overlay) {
        overlay.bitmap.close();
        URL.revokeObjectURL(overlay.url);
      }
    },
    onError: (status, isBusy) => store.update({ status, isBusy }),
  });
  let seen: readonly unknown[] = [];
  store.watch(['history', 'media', 'account', 'pages', 'time', 'isMoving'], (state) => {
    const { history, media, account, pages, isMoving } = state;
    if (isMoving) {
      preview.cancel();
      seen = [];
      return;
    }
    // While a video plays, most frames show the same captions.
    const now = [history.current, media, account, pages, momentOf(state)?.shown];
    if (now.every((part, index) => part === seen[index])) return;
    const isNewMedia = media !== seen[1];
    seen = now;
    latest = previewOf(state, previewSide(state, terms));
    if (latest === undefined) {
      preview.cancel();
      store.update({ overlay: undefined, isBusy: false, status: '' });
      return;
    }
    store.update({ isBusy: true, ...(isNewMedia && { overlay: undefined }) });
    preview.request(latest);
  });
}

const MARKED = 'The previews without a watermark are used up for now. Renders have none.';
