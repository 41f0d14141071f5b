// The fields of the playground for the style of captions and the safe area.

import { DEFAULT_FONT, FONT_NAMES } from '../../engine/caption/fonts.ts';
import { DEFAULT_CORNER, LOGO_CORNERS } from '../../engine/caption/logo.ts';
import { SAFE_AREAS } from '../../engine/caption/safe-area.ts';
import { HIGHLIGHTS, STYLE_FIELDS } from '../../engine/caption/style.ts';
import { DEFAULT_PRESET } from '../../engine/caption/style-presets.ts';
import { type Html, html } from '../html.ts';
import { numberField } from './number-field.ts';

const { preset, size, align, weight, case: letters } = STYLE_FIELDS;

/** The weight that isn't sent, because it depends on the preset. */
const OF_THE_STYLE = 'of the style';

/** The default of each field comes first and isn't sent. */
function defaultFirst(names: readonly string[], first: string): { readonly name: string; readonly value: string }[] {
  const sorted = [first, ...names.filter((name) => name !== first)];
  return sorted.map((name) => ({ name, value: name === first ? '' : name }));
}

function select(label: string, name: string, names: readonly string[], first: string): Html {
  return html`<label>${label} <select name="${name}">${options(names, first)}</select></label>`;
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
<fieldset class="presets"><legend>Style</legend>${presets()}
<span class="saved-styles" data-saved-styles></span></fieldset>
<template data-saved-style><label><input type="radio" class="visually-hidden" name="preset"><span class="preset"><span class="preset-sample" aria-hidden="true">Aa</span><span data-name></span></span></label></template>
<label>Color <input type="color" name="color" value="#ffffff"></label>
<label>Background <input type="color" name="background" value="#000000"></label>
${numberField('Size', 'size', size, { placeholder: '1' })}
${select('Font', 'font', FONT_NAMES, DEFAULT_FONT)}
${select('Weight', 'weight', weight.enum, OF_THE_STYLE)}
${select('Case', 'case', letters.enum, 'none')}
${select('Align', 'align', align.enum, 'center')}
${select('Highlight', 'highlight', HIGHLIGHTS, 'none')}
<label data-when="highlight-color" hidden>Word color <input type="color" name="highlight_color"></label>
<label data-when="highlight-box" hidden>Box color <input type="color" name="highlight_background"></label>
${select('Safe area', 'safe_area', SAFE_AREAS, 'none')}
<label data-when="logos" hidden>Logo <select name="logo"></select></label>
<label data-when="logo" hidden>Corner <select name="logo_corner">${options(LOGO_CORNERS, DEFAULT_CORNER)}</select></label>
<details class="save-style" data-save-style data-when="account" hidden><summary>Save as style</summary>
<label for="style-name">Name <span class="small">Lowercase letters, digits and hyphens. Requests can then say <code>style=name</code>.</span></label>
<div class="save-row"><input id="style-name" type="text" autocomplete="off" spellcheck="false" maxlength="40"><button type="button" class="button quiet">Save</button></div>
<p class="small" role="status" data-saved></p>
</details>
</div>`;
}
