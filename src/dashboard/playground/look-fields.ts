// The fields of the playground for the style of captions and the safe area.

import { SAFE_AREAS } from '../../caption/safe-area.ts';
import { HIGHLIGHTS, STYLE_FIELDS } from '../../caption/style.ts';
import { DEFAULT_PRESET } from '../../caption/style-presets.ts';
import { type Html, html } from '../html.ts';

const { preset, size, align, weight, case: letters } = STYLE_FIELDS;

/** The weight that isn't sent, because it depends on the preset. */
const OF_THE_STYLE = 'of the style';

/** The default of each field comes first and isn't sent. */
function defaultFirst(names: readonly string[], first: string): { readonly name: string; readonly value: string }[] {
  const sorted = [first, ...names.filter((name) => name !== first)];
  return sorted.map((name) => ({ name, value: name === first ? '' : name }));
}

function options(names: readonly string[], first: string): Html[] {
  return defaultFirst(names, first).map(({ name, value }) => html`<option value="${value}">${name}</option>`);
}

/** Each preset shows what it looks like. */
function presets(): Html[] {
  return defaultFirst(preset.enum, DEFAULT_PRESET).map(
    ({ name, value }) =>
      html`<label><input type="radio" class="visually-hidden" name="preset" value="${value}"${value === '' && html` checked`}><span class="preset"><span class="preset-sample preset-${name}" aria-hidden="true">Aa</span><span>${name}</span></span></label>`,
  );
}

export function lookFields(): Html {
  return html`<div class="look" data-look>
<fieldset class="presets"><legend>Style</legend>${presets()}</fieldset>
<label>Color <input type="color" name="color" value="#ffffff"></label>
<label>Background <input type="color" name="background" value="#000000"></label>
<label>Size <input type="number" name="size" min="${size.minimum}" max="${size.maximum}" step="0.1" placeholder="1" inputmode="decimal"></label>
<label>Align <select name="align">${options(align.enum, 'center')}</select></label>
<label>Weight <select name="weight">${options(weight.enum, OF_THE_STYLE)}</select></label>
<label>Highlight <select name="highlight">${options(HIGHLIGHTS, 'none')}</select></label>
<label>Case <select name="case">${options(letters.enum, 'none')}</select></label>
<label>Safe area <select name="safe_area">${options(SAFE_AREAS, 'none')}</select></label>
</div>`;
}
