// The headers with the facts of a render.

import { OUTPUT_FORMATS, type OutputFormat } from '../../engine/caption/output-format.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import type { RenderFacts } from '../../engine/render/render.ts';

export interface RenderReport {
  readonly renderId: string;
  readonly kind: AssetKind;
  readonly format: OutputFormat;
  readonly facts: RenderFacts;
  /** Words of captions from speech that were left out. */
  readonly uncertainWords: number;
  readonly receiveMs: number;
  readonly renderMs: number;
}

/** Headers that describe a render, stored with its idempotency key so that a replay sends the same ones. */
export type RenderHeaders = Readonly<Record<string, string>>;

export function renderHeaders(report: RenderReport): RenderHeaders {
  const { renderId, kind, format, facts, uncertainWords, receiveMs, renderMs } = report;
  const { mediaType, extension } = OUTPUT_FORMATS[format];
  return {
    'content-type': mediaType,
    'content-disposition': `inline; filename="${renderId}.${extension}"`,
    'x-render-id': renderId,
    'x-source-type': kind,
    'x-render-duration-ms': String(Math.max(1, Math.round(renderMs))),
    'server-timing': serverTiming({ receive: receiveMs, ...facts.timings }),
    ...(facts.sourcePixels && { 'x-source-pixels': facts.sourcePixels }),
    ...(facts.quality !== undefined && { 'x-quality': String(facts.quality) }),
    ...(facts.warnings.length > 0 && { 'x-warnings': facts.warnings.join(', ') }),
    ...(facts.missingGlyphs > 0 && { 'x-missing-glyphs': String(facts.missingGlyphs) }),
    ...(uncertainWords > 0 && { 'x-uncertain-words': String(uncertainWords) }),
  };
}

function serverTiming(timings: Readonly<Record<string, number>>): string {
  return Object.entries(timings)
    .map(([step, milliseconds]) => `${step};dur=${milliseconds.toFixed(1)}`)
    .join(', ');
}
