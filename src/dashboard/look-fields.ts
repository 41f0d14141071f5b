// The fields of the playground for the style of captions and the safe area.

import { SAFE_AREA_MARGINS, SAFE_AREAS } from '../caption/safe-area-field.ts';
import { ALIGNMENTS, MAX_STYLE_SIZE, MIN_STYLE_SIZE, STYLE_PRESETS, WEIGHTS } from '../caption/style-field.ts';
import { type Html, html } from './html.ts';

/** The first name is the default and isn't sent. */
function options(names: readonly string[], first: string): Html[] {
  const sorted = [first, ...names.filter((name) => name !== first)];
  return sorted.map((name) => html`<option value="${name === first ? '' : name}">${name}</option>`);
}

export function lookFields(): Html {
  return html`<fieldset class="look" data-look data-margins="${JSON.stringify(SAFE_AREA_MARGINS)}">
<legend>Style</legend>
<label>Preset <select name="preset">${options(STYLE_PRESETS, 'bar')}</select></label>
<label>Color <input type="color" name="color" value="#ffffff"></label>
<label>Background <input type="color" name="background" value="#000000"></label>
<label>Size <input type="number" name="size" min="${MIN_STYLE_SIZE}" max="${MAX_STYLE_SIZE}" step="0.1" placeholder="1" inputmode="decimal"></label>
<label>Align <select name="align">${options(ALIGNMENTS, 'center')}</select></label>
<label>Weight <select name="weight">${options(WEIGHTS, 'regular')}</select></label>
<label>Safe area <select name="safe_area">${options(SAFE_AREAS, 'none')}</select></label>
</fieldset>`;
}
