// Random requests to the operations of the OpenAPI document. Most of them are valid by the schemas. The others have one
// fault.

import fc from 'fast-check';
import { must } from '../../../src/shared/must.ts';
import { anyCaption } from '../../random-captions.ts';
import { type Operation, resolved, type Schema } from './document.ts';

/** The objects that requests can refer to. Tests add those in responses. */
export interface World {
  /** Ids of renders, batches, endpoints and deliveries by path, such as `/v1/renders`. */
  readonly ids: Map<string, string[]>;
  readonly etags: string[];
  readonly assets: readonly Buffer[];
  readonly font: Buffer;
  readonly urls: readonly string[];
}

/** A request that depends on the world at the time it is sent, not when it is generated. */
export interface RandomRequest {
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RandomBody | undefined;
  /** An index into ids. */
  readonly choice: number;
  readonly credentials: number;
  /** True if a browser opens it in a tab. */
  readonly isTab: boolean;
}

export interface RandomBody {
  readonly mediaType: string;
  /** Fields, or text for a body without fields. */
  readonly fields: Readonly<Record<string, unknown>> | string;
}

const SUBTITLES = '1\n00:00:00,000 --> 00:00:01,000\nHello\n';
const DELIVERY = ['deliver', 'webhook_url', 'put_url', 'put_headers'];
const CAPTION_KINDS = ['text', 'overlays', 'captions'];
const FILE_KINDS = ['asset', 'asset_url', 'canvas'];
/** Fields that need others, or a video. */
const FRAME = ['fit', 'at', 'max_bytes', 'duration', 'fps'];

/** Values that a schema can't describe, or whose whole range would take too long to render. */
function specialFields(world: World): Readonly<Record<string, fc.Arbitrary<unknown>>> {
  const side = fc.integer({ min: 16, max: 160 });
  return {
    width: side,
    height: side,
    text: anyCaption,
    captions: fc.constantFrom(SUBTITLES, `WEBVTT\n\n${SUBTITLES.replaceAll(',', '.')}`, 'no cues'),
    asset: fc.constantFrom(...world.assets),
    style: fc.constantFrom('box', 'acme', { preset: 'bar', size: 1.5 }, { color: '#ff0000', align: 'left' }),
    preset: fc.constantFrom('bar', 'box', 'outline'),
    lang: fc.constantFrom('ja', 'zh-Hant', 'ar'),
    duration: fc.integer({ min: 1, max: 30 }),
    cursor: fc.constantFrom('', '', '0'),
    wait: fc.constantFrom(0, 0, 1, 'soon'),
    from: fc.constantFrom('2026-01-01', ''),
    range: fc.constantFrom('bytes=0-9', 'bytes=-5', 'bytes=999999999-', 'lines=1'),
    'if-range': fc.constantFrom('"other"'),
    'if-none-match': fc.constantFrom('"other"'),
    prefer: fc.constantFrom('respond-async', 'wait=1'),
    'idempotency-key': fc.oneof(
      { arbitrary: fc.uuid(), weight: 9 },
      { arbitrary: fc.constantFrom('the same key', 'x'.repeat(256), 'café'), weight: 1 },
    ),
  };
}

export function anyRequest(operation: Operation, world: World): fc.Arbitrary<RandomRequest> {
  const { parameters = [], requestBody } = operation;
  const parameter = (place: string): fc.Arbitrary<Record<string, unknown>> =>
    fc.record(
      Object.fromEntries(
        parameters
          .filter((one) => one.in === place)
          .map(({ name, schema }) => [name, specialFields(world)[name] ?? valueOf(schema, world)]),
      ),
      { requiredKeys: [] },
    );
  return fc.record({
    query: parameter('query'),
    headers: parameter('header') as fc.Arbitrary<Record<string, string>>,
    body: bodyOf(requestBody, world),
    choice: fc.noBias(fc.nat(1_000)),
    credentials: fc.noBias(fc.nat(1_000)),
    isTab: fc.noBias(fc.nat(9)).map((one) => one === 0),
  });
}

function bodyOf(body: Operation['requestBody'], world: World): fc.Arbitrary<RandomBody | undefined> {
  // A request without a body may have one anyway, which the server ignores.
  if (body === undefined) {
    const odd = fc.constantFrom({ mediaType: 'application/json', fields: {} }, { mediaType: 'x', fields: 'x' });
    return fc.oneof({ arbitrary: fc.constant(undefined), weight: 8 }, { arbitrary: odd, weight: 1 });
  }
  const encodings = Object.entries(body.content).map(([mediaType, { schema }]) =>
    fc.record({ mediaType: fc.constant(mediaType), fields: fieldsOf(resolved(schema), world) }),
  );
  const broken = fc.constantFrom(
    { mediaType: 'application/json', fields: '{"text": ' },
    { mediaType: 'application/json', fields: '[]' },
    { mediaType: 'application/json', fields: ' '.repeat(600_000) },
    { mediaType: 'application/x-www-form-urlencoded', fields: 'text=%ff' },
    { mediaType: 'multipart/form-data', fields: 'x' },
    { mediaType: 'multipart/form-data; boundary=x', fields: '--x\r\n' },
    { mediaType: 'text/plain', fields: 'x' },
    { mediaType: 'x', fields: 'x' },
    { mediaType: '', fields: '{}' },
  );
  return fc.oneof(
    { arbitrary: fc.oneof(...encodings), weight: 8 },
    { arbitrary: broken, weight: 1 },
    ...(body.required ? [] : [{ arbitrary: fc.constant(undefined), weight: 4 }]),
  );
}

/** Generates fields by the schema, sometimes with a fault. */
function fieldsOf(schema: Schema, world: World): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys(schema.properties ?? {});
  const plausible = plausibleOf(schema, world);
  const fault = fc.tuple(plausible, fc.constantFrom(...names, 'unknown'), fc.jsonValue({ maxDepth: 2 }));
  return fc.oneof(
    { arbitrary: plausible, weight: 6 },
    { arbitrary: fault.map(([fields, name, value]) => ({ ...fields, [name]: value })), weight: 2 },
    { arbitrary: objectOf(schema, world), weight: 1 },
  );
}

/** Generates fields by the schema, and by the rules between fields, which it can't express. */
function plausibleOf(schema: Schema, world: World): fc.Arbitrary<Record<string, unknown>> {
  const valid = objectOf(schema, world);
  const files = FILE_KINDS.filter((kind) => kind === 'canvas' || kind in (schema.properties ?? {}));
  if ('license_confirmed' in (schema.properties ?? {})) {
    return fc.constant({ asset: world.font, license_confirmed: true });
  }
  if (!('overlays' in (schema.properties ?? {}))) return valid;
  return fc
    .tuple(valid, fc.constantFrom('text', 'overlays'), fc.constantFrom(...files))
    .map(([fields, captions, file]) => plausibleFields(fields, captions, file, world));
}

/** Drops fields that exclude each other, and adds those that are needed. */
function plausibleFields(
  fields: Record<string, unknown>,
  captions: string,
  file: string,
  { assets, urls }: World,
): Record<string, unknown> {
  const others = new Set([...CAPTION_KINDS, ...FILE_KINDS, 'position', ...DELIVERY, 'format', ...FRAME]);
  const kept = Object.entries(fields).filter(([name]) => name === captions || !others.has(name));
  return {
    ...(captions === 'text' ? { text: 'Hello' } : { overlays: [{ text: 'Hello' }] }),
    ...(file === 'canvas' && { width: 100, height: 80 }),
    ...(file === 'asset' && { asset: assets[0] }),
    ...(file === 'asset_url' && { asset_url: urls[0] }),
    ...(file !== 'canvas' && 'fit' in fields && { fit: 'crop', width: 100, height: 80 }),
    ...(file !== 'canvas' &&
      'format' in fields &&
      'max_bytes' in fields &&
      !('quality' in fields) && { max_bytes: 50_000 }),
    ...('format' in fields && { format: file === 'canvas' ? 'webp' : 'jpeg' }),
    ...(fields['async'] !== true && 'deliver' in fields && { deliver: fields['deliver'] }),
    ...(fields['async'] === true && 'webhook_url' in fields && { webhook_url: urls[0] }),
    ...('put_url' in fields && !('deliver' in fields) && { put_url: urls[0] }),
    ...Object.fromEntries(kept),
  };
}

function objectOf(schema: Schema, world: World): fc.Arbitrary<Record<string, unknown>> {
  const special = specialFields(world);
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    name,
    special[name] ?? valueOf(field, world),
  ]);
  const model = Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>;
  return fc.record(model, { requiredKeys: [...(schema.required ?? [])] }).map((made) => {
    // A style without a background can't have one.
    if (made['preset'] === 'outline' || made['preset'] === 'plain') delete made['background'];
    return made;
  });
}

function valueOf(schema: Schema, world: World): fc.Arbitrary<unknown> {
  const { $ref, oneOf, enum: values, type, minimum = 0, maximum = 100, maxLength = 20 } = schema;
  if ($ref !== undefined) return valueOf(resolved(schema), world);
  if (oneOf) return fc.oneof(...oneOf.map((one) => valueOf(one, world)));
  if (values) return fc.constantFrom(...values);
  switch ([type].flat()[0] ?? 'string') {
    case 'object':
      return plausibleOf(schema, world);
    case 'array':
      return fc.array(valueOf(must(schema.items, 'items'), world), { minLength: schema.minItems ?? 0, maxLength: 3 });
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: minimum, max: maximum });
    case 'number':
      return fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) });
    default:
      return stringOf(schema, maxLength, world);
  }
}

function stringOf({ format, pattern }: Schema, maxLength: number, world: World): fc.Arbitrary<string> {
  if (format === 'uri') return fc.constantFrom(...world.urls);
  if (format === 'uuid') return fc.uuid();
  if (format === 'date') return fc.constantFrom('2026-01-31', '2026-03-01');
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, 'u'));
  return fc.string({ maxLength: Math.min(maxLength, 20) });
}
