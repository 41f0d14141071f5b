// The responses of free requests: layouts and usage.

import { LAYOUT_WARNINGS } from '../../engine/render/warnings.ts';
import { complete, DAY, INTEGER, listOf, NUMBER, ref, STRING, STRING_OR_NULL, TIME } from './schema-parts.ts';

const WARNINGS = {
  ...listOf(STRING),
  description: `Codes such as ${LAYOUT_WARNINGS.map((code) => `\`${code}\``).join(', ')}. More may be added.`,
} as const;

const MODE = { type: 'string', enum: ['live', 'test'] } as const;

export const FREE_SCHEMAS = {
  Layout: complete({
    width: INTEGER,
    height: INTEGER,
    bars: listOf(ref('LayoutBar')),
    captions: {
      ...STRING_OR_NULL,
      description: 'The pages of `captions` as WebVTT, with the times of their words. Null without `captions`.',
    },
    logo: {
      anyOf: [complete({ x: NUMBER, y: NUMBER, width: NUMBER, height: NUMBER }), { type: 'null' }],
      description: 'Where the logo is drawn. Null without one, and where captions leave no place for it.',
    },
    warnings: WARNINGS,
    credits: { type: 'integer', description: 'What the render would cost.' },
  }),
  LayoutBar: complete({
    x: NUMBER,
    y: NUMBER,
    width: NUMBER,
    height: NUMBER,
    font_size: NUMBER,
    direction: { type: 'string', enum: ['ltr', 'rtl'] },
    lines: listOf(complete({ text: STRING, x: NUMBER, width: NUMBER, baseline: NUMBER })),
    fonts: listOf(STRING),
    missing_characters: listOf(STRING),
    warnings: WARNINGS,
    page: {
      anyOf: [ref('LayoutPage'), { type: 'null' }],
      description: 'The page of `captions` that the bar shows. Null for `text` and `overlays`.',
    },
  }),
  LayoutPage: complete({
    text: STRING,
    start: { type: 'number', description: 'In seconds.' },
    end: NUMBER,
    words: {
      ...listOf(
        complete({ text: STRING, start: NUMBER, end: NUMBER, x: NUMBER, y: NUMBER, width: NUMBER, height: NUMBER }),
      ),
      description: 'Words with their times, and where they stand out. Empty for cues whose words have no times.',
    },
  }),
  Usage: complete({
    plan: complete({
      name: STRING,
      title: STRING,
      credits: INTEGER,
      requests_per_minute: INTEGER,
      concurrent_renders: INTEGER,
      limits: { type: 'object', additionalProperties: INTEGER },
    }),
    period: complete({ starts_at: TIME, ends_at: TIME, renews: { type: 'boolean' } }),
    credits: complete({ limit: INTEGER, used: INTEGER, reserved: INTEGER, remaining: INTEGER }),
    from: DAY,
    to: DAY,
    days: {
      ...listOf(complete({ day: DAY, mode: MODE, outcome: STRING, renders: INTEGER, credits: INTEGER })),
      description: 'Per day and outcome. Empty for a key with allowed origins.',
    },
    keys: {
      ...listOf(complete({ day: DAY, key_id: STRING_OR_NULL, mode: MODE, renders: INTEGER, credits: INTEGER })),
      description: 'Delivered renders per day and key.',
    },
  }),
} as const;
