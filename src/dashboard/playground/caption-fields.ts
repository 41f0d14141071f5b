// The fields of the playground for captions, their positions and their times.

import { CAPTION_FIELDS } from '../../caption/request-fields.ts';
import { type Html, html } from '../html.ts';
import { WORD_LOOKS } from './word-looks.ts';

const { max_words } = CAPTION_FIELDS;

/** Draws strokes on a grid of 20 units. */
function icon(path: string): Html {
  return html`<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="${path}"/></svg>`;
}

const ICONS = {
  undo: icon('M8 4 4 8l4 4M4 8h8a4 4 0 0 1 0 8H9'),
  redo: icon('m12 4 4 4-4 4M16 8H8a4 4 0 0 0 0 8h3'),
  up: icon('M10 16V4M5 9l5-5 5 5'),
  down: icon('M10 4v12M5 11l5 5 5-5'),
  duplicate: icon('M7 7h9v9H7zM4 13V4h9'),
  remove: icon('m5 5 10 10M15 5 5 15'),
} as const;

export function captionFields(): Html {
  return html`<div class="panel-head"><h2>Captions</h2>
<button type="button" class="icon" aria-label="Undo" title="Undo (Ctrl+Z)" data-undo disabled>${ICONS.undo}</button>
<button type="button" class="icon" aria-label="Redo" title="Redo (Ctrl+Shift+Z)" data-redo disabled>${ICONS.redo}</button></div>
<ol class="bars" data-bars></ol>
<p class="small" data-no-captions hidden>No captions. Add one, or double-click the image where you want it.</p>
<template data-bar>
<li>
<div class="bar-head"><label data-text-label>Caption</label><span class="small" data-count></span></div>
<textarea rows="1" dir="auto" data-text></textarea>
<div class="bar-foot">
<label>Position <input type="number" min="0" max="100" step="any" inputmode="decimal" data-position></label>
<span class="bar-actions">
<button type="button" class="icon" data-up>${ICONS.up}</button>
<button type="button" class="icon" data-down>${ICONS.down}</button>
<button type="button" class="icon" data-duplicate>${ICONS.duplicate}</button>
<button type="button" class="icon" data-remove>${ICONS.remove}</button>
</span>
</div>
<div class="bar-foot" data-times hidden>
<label>Start, s <input type="number" min="0" step="any" inputmode="decimal" placeholder="0" data-start></label>
<label>End, s <input type="number" min="0" step="any" inputmode="decimal" data-end></label>
</div>
</li>
</template>
<p class="add"><button type="button" class="button quiet" data-add>Add caption</button></p>
<div data-subtitles hidden>
<details><summary>Subtitles instead of captions</summary>
<label for="subtitles">SRT, WebVTT or a transcript as JSON <span class="small">Paste it, choose a file, or drop one on the page.</span></label>
<textarea id="subtitles" rows="4" spellcheck="false" data-captions></textarea>
<p><input type="file" accept=".srt,.vtt,.json,text/vtt,application/json" aria-label="Subtitle file" data-captions-file></p>
<div class="source-group" role="group" aria-label="Looks for spoken words">
${WORD_LOOKS.map(({ name, ...look }) => html`<button type="button" class="starter" data-word-look="${JSON.stringify(look)}">${name}</button>`)}
</div>
<div class="bar-foot">
<label>Words per page <input type="number" min="${max_words.minimum}" max="${max_words.maximum}" step="1" inputmode="numeric" data-max-words></label>
<button type="button" class="button quiet" data-edit-words disabled>Edit words</button>
</div>
</details>
</div>`;
}
