// The views that only videos need.

import { find } from '../elements.ts';
import type { Editor } from './editor.ts';
import type { PriceRules } from './payer.ts';
import { player } from './player.ts';
import { Timeline } from './timeline.ts';
import { wordEditor } from './word-editor.ts';

export function videoViews(store: Editor, root: HTMLElement, terms: PriceRules): void {
  player(store, find(root, '[data-player]', HTMLElement));
  new Timeline(store, find(root, '[data-timeline]', HTMLElement)).watch();
  wordEditor(store, find(root, '[data-subtitles]', HTMLElement), terms);
}
