// The fields of the playground for captions, their positions and their times.

import { CAPTION_FIELDS } from '../../engine/caption/request-fields.ts';
import { type Html, html } from '../html.ts';
import { numberField } from './number-field.ts';
import { WORD_LOOKS } from './word-looks.ts';

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
<div data-own-captions>
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
</div>
<p class="small" data-replaced hidden>The subtitles below replace your captions. Clear them to get your captions back.</p>
${subtitleFields()}`;
}

/** Subtitles or a transcript, and the words of the page that the player is at. */
function subtitleFields(): Html {
  return html`<div class="subtitles" data-subtitles data-when="timed" hidden>
<details><summary>Subtitles or spoken words</summary>
<label for="subtitles">SRT, WebVTT or a transcript as JSON <span class="small">Paste it, or drop the file on the page.</span></label>
<textarea id="subtitles" rows="4" spellcheck="false" data-captions></textarea>
<p class="subtitle-actions"><label class="button quiet file"><input type="file" class="visually-hidden" accept=".srt,.vtt,.json,text/vtt,application/json" data-captions-file>Choose a file</label></p>
<div class="words" role="group" aria-label="Words of the page" data-words hidden>
<p class="small"><span data-page-number></span>. Change a word, or clear it to remove it.</p>
<div class="word-fields" data-word-fields></div>
</div>
<div class="look">
<div class="word-looks" role="group" aria-label="Looks for spoken words">
${WORD_LOOKS.map(({ name, fields }) => html`<button type="button" class="starter" data-word-look="${JSON.stringify(fields)}">${name}</button>`)}
</div>
${numberField('Words per page', 'max_words', CAPTION_FIELDS.max_words)}
${numberField('Lines per page', 'max_lines', CAPTION_FIELDS.max_lines)}
</div>
</details>
</div>`;
}
