// What accounts saved for their renders, as the API returns it.

import { complete, INTEGER, listOf, ref, STRING, TIME } from './schema-parts.ts';

export const BRAND_SCHEMAS = {
  SavedStyle: complete({
    name: { ...STRING, description: 'Use it as the `style` of a request: `acme`, or `acme@3` for this version.' },
    version: { ...INTEGER, description: 'Grows by 1 whenever the style changes.' },
    style: { type: 'object', description: 'The keys of a style, as they were saved.' },
    updated_at: { ...TIME, description: 'When this version was saved.' },
  }),
  SavedStyleList: complete({ styles: listOf(ref('SavedStyle')) }),
} as const;
