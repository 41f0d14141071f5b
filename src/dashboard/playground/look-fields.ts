// The fields of the playground for the style of captions and the safe area.

import { SAFE_AREAS } from '../../caption/safe-area-field.ts';
import { ALIGNMENTS, MAX_STYLE_SIZE, MIN_STYLE_SIZE, STYLE_PRESETS, WEIGHTS } from '../../caption/style-field.ts';
import { type Html, html } from '../html.ts';

/** The default of each field comes first and isn't sent. */
function defaultFirst(names: readonly string[], first: string): { readonly name: string; readonly value: string }[] {
  const sorted = [first, ...names.filter((name) => name !== first)];
  return sorted.map((name) => ({ name, value: name === first ? '' : name }));
}

function options(names: readonly string[], first: string): Html[] {
  return defaultFirst(names, first).map(({ name, value }) => html`<option value="${value}">${name}</option>`);
}

/** Each shows what it looks like. */
function presets(): Html[] {
  return defaultFirst(STYLE_PRESETS, 'bar').map(
    ({ name, value }) =>
      html`<label><input type="radio" class="visually-hidden" name="preset" value="${value}"${value === '' && html` checked`}><span class="preset"><span class="preset-sample preset-${name}" aria-hidden="true">Aa</span><span>${name}</span></span></label>`,
  );
}

export function lookFields(): Html {
  return html`<div class="look" data-look>
<fieldset class="presets"><legend>Style</legend>${presets()}</fieldset>
<label>Color <input type="color" name="color" value="#ffffff"></label>
<label>Background <input type="color" name="background" value="#000000"></label>
<label>Size <input type="number" name="size" min="${MIN_STYLE_SIZE}" max="${MAX_STYLE_SIZE}" step="0.1" placeholder="1" inputmode="decimal"></label>
<label>Align <select name="align">${options(ALIGNMENTS, 'center')}</select></label>
<label>Weight <select name="weight">${options(WEIGHTS, 'regular')}</select></label>
<label>Safe area <select name="safe_area">${options(SAFE_AREAS, 'none')}</select></label>
</div>`;
}
