// The fields of the playground for the finished file: its shape, its format and its size.

import { FIT_MODES } from '../../engine/caption/fit.ts';
import { COLOR_SPACES, type ColorSpace } from '../../engine/caption/output-format.ts';
import { CAPTION_FIELDS, DEFAULT_FPS, FILE_FIELDS } from '../../engine/caption/request-fields.ts';
import { type Html, html } from '../html.ts';
import { numberField } from './number-field.ts';

const SHAPES = ['', '9:16', '4:5', '1:1', '16:9', 'custom'];
const SHAPE_TITLES: Readonly<Record<string, string>> = { '': 'Original', custom: 'Custom' };
const FIT_TITLES: Readonly<Record<(typeof FIT_MODES)[number], string>> = { blur: 'Blur', crop: 'Crop', pad: 'Pad' };
/** Of a JPEG that stays a JPEG. */
const COLOR_SPACE_TITLES: Readonly<Record<ColorSpace, string>> = { source: 'As in the photo', srgb: 'sRGB' };
/** The page shows kilobytes. */
const KILOBYTE = 1_000;

/** The aspect ratio, and how the file gets it. */
export function shapeFields(): Html {
  const { width, height } = CAPTION_FIELDS;
  const modes = ['crop' as const, ...FIT_MODES.filter((mode) => mode !== 'crop')];
  return html`<fieldset class="source-group shapes"><legend class="visually-hidden">Aspect ratio</legend>
${SHAPES.map(
  (shape) =>
    html`<label><input type="radio" class="visually-hidden" name="shape" value="${shape}"${shape === '' && html` checked`}><span>${SHAPE_TITLES[shape] ?? shape}</span></label>`,
)}
</fieldset>
<div class="fit-fields">
${numberField('Width', 'width', width, { when: 'custom' })}
${numberField('Height', 'height', height, { when: 'custom' })}
<label data-when="fitted" hidden>Fit <select name="fit">${modes.map((mode) => html`<option value="${mode === 'crop' ? '' : mode}">${FIT_TITLES[mode]}</option>`)}</select></label>
<label data-when="padded" hidden>Color <input type="color" name="fit_color"></label>
<span class="small" data-size-note></span>
</div>
<label class="check"><input type="checkbox" name="overlay_only" value="on"> Overlay only</label>`;
}

/** The format, and what depends on it. */
export function outputFields(): Html {
  const { max_bytes: bytes, duration, fps } = FILE_FIELDS;
  const kilobytes = { type: 'integer', minimum: bytes.minimum / KILOBYTE, maximum: bytes.maximum / KILOBYTE } as const;
  return html`<div class="look output">
<label>Format <select name="format"></select></label>
<label data-when="color-space" hidden>Colors <select name="color_space">
${COLOR_SPACES.map((space) => html`<option value="${space === COLOR_SPACES[0] ? '' : space}">${COLOR_SPACE_TITLES[space]}</option>\n`)}</select></label>
${numberField('Limit, KB', 'max_kilobytes', kilobytes, { when: 'max-bytes', placeholder: 'none' })}
${numberField('Length, s', 'duration', { type: 'number', maximum: duration.maximum }, { when: 'clip' })}
${numberField('Frames per s', 'fps', fps, { when: 'clip', placeholder: String(DEFAULT_FPS) })}
</div>`;
}
