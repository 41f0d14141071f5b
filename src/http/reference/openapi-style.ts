// The fields for the look of captions as JSON Schema: styles and safe areas.

import { SAFE_AREAS } from '../../caption/safe-area-field.ts';
import { ALIGNMENTS, MAX_STYLE_SIZE, MIN_STYLE_SIZE, STYLE_PRESETS, WEIGHTS } from '../../caption/style-field.ts';

const COLOR = { type: ['string', 'null'], pattern: '^#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$' } as const;

const PRESET_OR_OBJECT = [{ type: 'string', enum: STYLE_PRESETS }, { $ref: '#/components/schemas/Style' }] as const;

/** A style as an object. */
export const STYLE_SCHEMA = {
  type: 'object',
  description: 'Changes a preset. Unknown keys are an error.',
  properties: {
    preset: {
      type: ['string', 'null'],
      enum: [...STYLE_PRESETS, null],
      description:
        '`bar` (default): full-width dark bar, white text. `bar-light`: white bar, black text. `box`, `box-light`: rounded ' +
        'label around each line. `outline`: dark outline around the letters. `plain`: soft shadow.',
    },
    color: { ...COLOR, description: 'Color of the text, such as `#ffcc00`, or `#ffcc0080` with transparency.' },
    background: { ...COLOR, description: 'Color of the bar or box. A `conflict` with `outline` and `plain`.' },
    size: {
      type: ['number', 'null'],
      minimum: MIN_STYLE_SIZE,
      maximum: MAX_STYLE_SIZE,
      description: 'Multiplies the default font size. Default: 1.',
    },
    align: {
      type: ['string', 'null'],
      enum: [...ALIGNMENTS, null],
      description: 'Default: `center`. Left and right are physical, also for right-to-left text.',
    },
    weight: {
      type: ['string', 'null'],
      enum: [...WEIGHTS, null],
      description: 'Default: `regular`. Scripts without a bold font stay regular, with the warning `no_bold`.',
    },
  },
  additionalProperties: false,
} as const;

export const STYLE_FIELD = {
  oneOf: PRESET_OR_OBJECT,
  description:
    `Look of the captions: a preset (${STYLE_PRESETS.map((preset) => `\`${preset}\``).join(', ')}), or an object such as ` +
    '`{"preset": "box", "size": 1.5}`, which forms send as JSON text. An overlay can have its own. Default: `bar`.',
} as const;

export const OVERLAY_STYLE = {
  oneOf: [...PRESET_OR_OBJECT, { type: 'null' }],
  description:
    'Look of this caption. With a preset, it replaces the `style` of the request. Without one, it changes only the keys it has.',
} as const;

export const SAFE_AREA_FIELD = {
  type: 'string',
  enum: SAFE_AREAS,
  description:
    "Keeps captions clear of an app's own controls, on portrait images and videos of 9:16 within 5 %. `all` fits every app. " +
    'Default: `none`.',
} as const;
