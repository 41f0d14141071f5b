// The values of a request's fields, checked one by one.

import type { FieldFault } from '../../shared/errors.ts';
import type { ValuesOf } from '../../shared/json-schema.ts';
import { check, type Schema } from './check.ts';
import type { ReadFields } from './field-reader.ts';
import type { FitMode } from './fit.ts';
import { LOGO_FIELD, type SentLogo } from './logo.ts';
import type { OutputFormat } from './output-format.ts';
import { type Overlay, OVERLAY_FIELDS } from './overlay.ts';
import { type FieldName, type LAYOUT_FIELDS, RENDER_FIELDS } from './request-fields.ts';
import type { SafeAreaName } from './safe-area.ts';
import { type CaptionStyle, STYLE_FIELDS, STYLE_NAME } from './style.ts';

const OBJECT = { type: 'object', additionalProperties: false } as const;
const OVERLAY: Schema = {
  type: 'object',
  properties: { ...OVERLAY_FIELDS, style: { oneOf: [STYLE_NAME, { ...OBJECT, properties: STYLE_FIELDS }] } },
  required: ['text'],
};

/** The schemas to run. Those of the tables refer to parts of the OpenAPI document. */
const SCHEMAS: Readonly<Record<FieldName, Schema>> = {
  ...RENDER_FIELDS,
  overlays: { ...RENDER_FIELDS.overlays, items: OVERLAY },
  style: { oneOf: [STYLE_NAME, { ...OBJECT, properties: { ...STYLE_FIELDS, logo: LOGO_FIELD } }] },
};

/** A style as it is sent, with names of presets only. */
export type SentStyle = CaptionStyle & { readonly logo?: SentLogo };

interface CanonicalValues {
  readonly asset_url: URL;
  readonly overlays: readonly (Partial<Overlay> | undefined)[];
  readonly captions: string | object;
  readonly style: SentStyle;
  readonly safe_area: SafeAreaName;
  readonly format: OutputFormat;
  readonly fit: { readonly mode?: FitMode; readonly color?: string };
  readonly webhook_url: URL;
  readonly put_url: URL;
  readonly put_headers: Readonly<Record<string, string>>;
}

type AllValues = Omit<ValuesOf<typeof RENDER_FIELDS & typeof LAYOUT_FIELDS>, keyof CanonicalValues> & CanonicalValues;

/** A field that wasn't sent is absent. An invalid one is undefined, so that rules between fields know of it. */
export type RequestValues = { readonly [Name in keyof AllValues]?: AllValues[Name] | undefined };

export function checkFields({ values, texts }: ReadFields, faults: FieldFault[]): RequestValues {
  const entries = Object.entries(values) as [FieldName, unknown][];
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const place = { pointer: `#/${name}`, name, faults, sent: texts[name] };
      return [name, value === undefined ? undefined : check(SCHEMAS[name], value, place)];
    }),
  );
}
