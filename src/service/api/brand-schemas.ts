// What accounts saved for their renders, as the API returns it.

import { complete, INTEGER, listOf, ref, STRING, TIME } from './schema-parts.ts';

export const BRAND_SCHEMAS = {
  SavedStyle: complete({
    name: { ...STRING, description: 'Use it as the `style` of a request: `acme`, or `acme@3` for this version.' },
    version: { ...INTEGER, description: 'Grows by 1 whenever the style changes.' },
    style: { type: 'object', description: 'The keys of a style, as they were saved.' },
    updated_at: { ...TIME, description: 'When this version was saved.' },
  }),
  Logo: complete({
    id: { ...STRING, description: 'Use it in `style.logo`.' },
    width: { ...INTEGER, description: 'In pixels, as stored.' },
    height: INTEGER,
    bytes: INTEGER,
    created_at: TIME,
  }),
  LogoList: complete({ logos: listOf(ref('Logo')) }),
  Font: complete({
    id: { ...STRING, description: 'Use it as `style.font`.' },
    family: { ...STRING, description: 'The name of the family, as the file has it.' },
    style: { ...STRING, description: 'Such as `Regular` or `Bold Italic`.' },
    weights: { ...listOf(INTEGER), description: 'One weight, or the two ends of a range.' },
    characters: { ...INTEGER, description: 'The number of characters that the font can draw.' },
    scripts: { ...listOf(STRING), description: 'Scripts with most of their letters, named as in Unicode.' },
    bytes: { ...INTEGER, description: 'The size as stored.' },
    created_at: TIME,
  }),
  FontList: complete({ fonts: listOf(ref('Font')) }),
  SavedStyleList: complete({ styles: listOf(ref('SavedStyle')) }),
} as const;
