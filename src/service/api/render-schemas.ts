// Stored renders and batches, as `GET` returns them and webhooks contain them.

import { RENDER_STATUSES } from '../store/renders/render.ts';
import {
  complete,
  ID,
  ID_OR_NULL,
  INTEGER,
  INTEGER_OR_NULL,
  listOf,
  NEXT_CURSOR,
  ref,
  refOrNull,
  STRING,
  STRING_OR_NULL,
  TIME,
  TIME_OR_NULL,
} from './schema-parts.ts';

export const RENDER_SCHEMAS = {
  Render: complete({
    id: ID,
    status: { type: 'string', enum: RENDER_STATUSES },
    progress: { type: 'number', minimum: 0, maximum: 1, description: 'How much of a video is encoded.' },
    source_type: { ...STRING_OR_NULL, description: '`image` or `video`. Null until the file is fetched.' },
    credits: { ...INTEGER_OR_NULL, description: 'What was charged. Null until the render has ended.' },
    test: { type: 'boolean', description: 'Whether it was requested with a test key.' },
    warnings: listOf(STRING),
    missing_glyphs: INTEGER,
    uncertain_words: { ...INTEGER, description: 'As in the header `x-uncertain-words`.' },
    source_pixels: { ...STRING_OR_NULL, description: 'As in the header `x-source-pixels`.' },
    language: {
      ...STRING_OR_NULL,
      description: 'Language of captions from speech as a BCP 47 tag. Null for other renders, and if it is unknown.',
    },
    captions_url: {
      type: ['string', 'null'],
      format: 'uri',
      description:
        'Link to captions from speech as WebVTT with the times of words, under the rules of `output.url`. Null for other renders.',
    },
    batch_id: ID_OR_NULL,
    created_at: TIME,
    started_at: TIME_OR_NULL,
    finished_at: TIME_OR_NULL,
    expires_at: { ...TIME_OR_NULL, description: 'Until when the result can be downloaded.' },
    output: refOrNull('RenderOutput'),
    error: refOrNull('Problem'),
  }),
  RenderOutput: complete({
    url: {
      type: ['string', 'null'],
      format: 'uri',
      description: 'Link to the file. It needs no key, so treat it as a secret. Null with `put_url`.',
    },
    put_status: {
      ...INTEGER_OR_NULL,
      description: 'With `put_url`, the status with which its server accepted the file. Otherwise null.',
    },
    content_type: STRING,
    bytes: INTEGER,
    width: INTEGER,
    height: INTEGER,
    duration: { type: ['number', 'null'], description: 'Seconds; null for images.' },
  }),
  RenderList: complete({ renders: listOf(ref('Render')), next_cursor: NEXT_CURSOR }),
  Batch: complete({
    id: ID,
    status: { type: 'string', enum: ['running', 'completed'] },
    queued: INTEGER,
    rendering: INTEGER,
    succeeded: INTEGER,
    failed: INTEGER,
    canceled: INTEGER,
    credits: INTEGER,
    renders: listOf(ref('Render')),
  }),
} as const;
