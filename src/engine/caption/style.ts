// The style of captions: its fields, shared by the API, the workers and the library.

import type { Json, ValueOf, ValuesOf } from '../../shared/json-schema.ts';
import { DEFAULT_FONT, FONT_NAMES, OWN_FONT_PATTERN } from './fonts.ts';
import { DEFAULT_PRESET, presetOf, STYLE_PRESETS, type StylePreset } from './style-presets.ts';

const COLOR = { type: 'string', pattern: '^#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$' } as const;

/** The presets whose text lies directly on the photo. */
const BARE_PRESETS = STYLE_PRESETS.filter((preset) => presetOf(preset).background === undefined);

const described = STYLE_PRESETS.map((preset) => {
  const suffix = preset === DEFAULT_PRESET ? ' (default)' : '';
  return `\`${preset}\`${suffix}: ${presetOf(preset).description}.`;
});

/** How the word that is being spoken stands out. */
export const HIGHLIGHTS = ['none', 'color', 'box', 'pop', 'reveal'] as const;
export type HighlightMode = (typeof HIGHLIGHTS)[number];

/** Words that appear keep the color of the style. */
export function takesHighlightColor(mode: string): boolean {
  return ['color', 'box', 'pop'].includes(mode);
}

/** The colors of a highlight that names none. */
export const HIGHLIGHT_COLORS = { color: '#ffd60a', boxText: '#ffffff', boxBackground: '#e0245e' } as const;

const LARGE_PRESETS = STYLE_PRESETS.filter((preset) => presetOf(preset).size !== undefined);
const LARGE_SIZE = Math.max(...LARGE_PRESETS.map((preset) => presetOf(preset).size ?? 1));
const OF_LARGE_PRESETS = `for ${LARGE_PRESETS.map((name) => `\`${name}\``).join(', ')}`;

/** The fields that a client can change. The preset `bar` and its values apply to everything else. */
export const STYLE_FIELDS = {
  preset: { type: 'string', enum: STYLE_PRESETS, description: described.join(' ') },
  /** `#rrggbb` or `#rrggbbaa`. */
  color: { ...COLOR, description: 'Color of the text, such as `#ffcc00`, or `#ffcc0080` with transparency.' },
  background: {
    ...COLOR,
    description: `Color of the bar or box. A \`conflict\` with ${BARE_PRESETS.map((name) => `\`${name}\``).join(' and ')}.`,
  },
  /** Multiplies the default font size. */
  size: {
    type: 'number',
    minimum: 0.5,
    maximum: 3,
    description: `Multiplies the font size of a bar. Default: 1, and ${LARGE_SIZE} ${OF_LARGE_PRESETS}.`,
  },
  /** The side on the screen, also for right-to-left text. */
  align: {
    type: 'string',
    enum: ['left', 'center', 'right'],
    description: 'Default: `center`. Left and right are physical, also for right-to-left text.',
  },
  weight: {
    type: 'string',
    enum: ['regular', 'bold'],
    description: `Default: \`regular\`, and \`bold\` ${OF_LARGE_PRESETS}. Letters without a bold font stay regular; if you ask for bold, with the warning \`no_bold\`.`,
  },
  font: {
    anyOf: [
      { type: 'string', enum: FONT_NAMES },
      { type: 'string', pattern: OWN_FONT_PATTERN },
    ],
    description:
      `Font of the letters: ${FONT_NAMES.map((name) => `\`${name}\``).join(', ')}, or the id of a font that you uploaded. Default: \`${DEFAULT_FONT}\`. ` +
      'Letters that a font lacks come from the default fonts, with the warning `font_fallback`.',
  },
  highlight: {
    oneOf: [
      { type: 'string', enum: HIGHLIGHTS },
      {
        type: 'object',
        properties: { mode: { type: 'string', enum: HIGHLIGHTS }, color: COLOR, background: COLOR },
        required: ['mode'],
        additionalProperties: false,
      },
    ],
    description:
      'How the word that is being spoken stands out; needs `captions`. `none` (default); `color`: in another color ' +
      `(\`${HIGHLIGHT_COLORS.color}\`); \`box\`: with a rounded box behind it (\`${HIGHLIGHT_COLORS.boxBackground}\`, white text); ` +
      '`pop`: larger, in another color; `reveal`: words appear when they are spoken. An object such as ' +
      '`{"mode": "box", "color": "#000000", "background": "#ffffff"}` has other colors. Nothing else moves or changes.',
  },
  /** By the rules of the language. */
  case: {
    type: 'string',
    enum: ['none', 'upper'],
    description: 'With `upper`, all letters are capitals, by the rules of `lang`. Default: `none`.',
  },
} as const satisfies Readonly<Record<string, Json>>;

export type CaptionStyle = ValuesOf<typeof STYLE_FIELDS>;
export type Alignment = ValueOf<typeof STYLE_FIELDS.align>;
export type Weight = ValueOf<typeof STYLE_FIELDS.weight>;

export function highlightOf({
  highlight = 'none',
}: CaptionStyle = {}): Exclude<CaptionStyle['highlight'], string | undefined> {
  return typeof highlight === 'string' ? { mode: highlight } : highlight;
}

/** The name of a preset, or of a saved style such as `acme` or `acme@3`. */
export const STYLE_NAME = { type: 'string', minLength: 1, maxLength: 50 } as const satisfies Json;

/** A style as a client sends it: a name, or an object that changes what the name stands for. */
export const NAME_OR_STYLE = {
  oneOf: [STYLE_NAME, { $ref: '#/components/schemas/Style' }],
} as const satisfies Json;

/** A style where no saved ones exist: the name of a preset, or an object that changes one. */
export type RequestedStyle = StylePreset | CaptionStyle;
