// Measures and paints the runs of a caption with its fonts. A run is split where another font or another distance begins.

import type { SKRSContext2D } from '@napi-rs/canvas';
import { graphemes } from '../caption/graphemes.ts';
import { glyphClusters } from '../layout/emoji.ts';
import type { Extent, Run } from '../layout/measurer.ts';
import { style } from '../layout/style.ts';
import type { PaintedRun } from './bar-pixels.ts';
import type { FontFile } from './font-files.ts';
import type { CaptionFonts, LeadFont } from './font-index.ts';
import { type RunPart, runParts } from './run-parts.ts';

/** The fonts of a caption, ready to measure and draw. */
export interface RunFonts extends CaptionFonts {
  readonly lead: ScaledFont | undefined;
}

/** A font at the size at which its capitals are as tall as those of the main font. */
interface ScaledFont extends LeadFont {
  readonly scale: number;
}

const FULL_WIDTH_PUNCTUATION =
  /^[\u3001-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3d\uff5b\uff5d-\uff60“”‘’]/u;
const BLANK_FONT_SIZE = 100;
/** The usual distance of ink from the edge of the square of a Han character, in em. */
const LETTER_GAP = 0.05;
const LETTER = /[\p{L}\p{N}]/u;
const SPACES = /^\s+$/u;

/** Letters with a flat top, and their usual height as a share of that of capitals. */
const FLAT_LETTERS = [
  { letter: 'H', share: 1 },
  { letter: 'x', share: 0.74 },
  { letter: '1', share: 1 },
];
/** Small letters below this share of the height of capitals, as in handwriting, would be hard to read. */
const LEAST_SMALL_SHARE = 0.64;
/** Letters of a typewriter would make lines much longer than those of other fonts. In em. */
const MAX_LETTER_WIDTH = 0.68;
const MAX_SCALE = 4;
/** How tall letters, signs or icons of a font without Latin letters usually are, in em. */
const USUAL_HEIGHT = { least: 0.35, most: 1.25, normal: 0.8 };

/**
 * The scale of a font, which has to be registered: capitals get the height of those of the main font, so that lines and bars
 * look alike with every font. Unusually small letters make it larger, and wide ones smaller.
 */
export function scaleOf(context: SKRSContext2D, { file, has, sample }: LeadFont): number {
  const flat = FLAT_LETTERS.find(({ letter }) => has(letter));
  setState(context, { size: BLANK_FONT_SIZE, files: [file], weight: 'regular', lang: '', rtl: false });
  if (flat === undefined) return scaleByInk(context, sample);
  const heightOf = (letter: string): number => context.measureText(letter).actualBoundingBoxAscent / BLANK_FONT_SIZE;
  const capital = heightOf(flat.letter) / flat.share;
  const small = has('x') ? heightOf('x') : LEAST_SMALL_SHARE * capital;
  const seen = Math.min(capital, small / LEAST_SMALL_SHARE);
  const width = has('n') ? context.measureText('n').width / BLANK_FONT_SIZE : 0;
  const scale = Math.min((2 * style.baselineBelowMiddle) / seen, MAX_LETTER_WIDTH / width);
  return bounded(scale);
}

/** Only unusually small or large characters are scaled. */
function scaleByInk(context: SKRSContext2D, sample: readonly string[]): number {
  const heights = sample
    .map((char) => context.measureText(char))
    .map((ink) => (ink.actualBoundingBoxAscent + ink.actualBoundingBoxDescent) / BLANK_FONT_SIZE)
    .toSorted((a, b) => a - b);
  const median = heights[heights.length >> 1] ?? USUAL_HEIGHT.normal;
  const isUsual = median >= USUAL_HEIGHT.least && median <= USUAL_HEIGHT.most;
  return isUsual ? 1 : bounded(USUAL_HEIGHT.normal / median);
}

function bounded(scale: number): number {
  return Math.min(MAX_SCALE, Math.max(1 / MAX_SCALE, scale));
}

export function paintRuns(
  context: SKRSContext2D,
  runs: readonly PaintedRun[],
  fonts: RunFonts,
  fontSize: number,
  method: 'fillText' | 'strokeText',
): void {
  for (const run of runs) {
    const y = run.baseline - (run.kind === 'text' ? 0 : style.emojiRaise * fontSize);
    for (const part of partsOf(context, fonts, run, fontSize)) {
      setFont(context, part.fonts, run, fontSize);
      context[method](part.text, run.x + part.x, y);
    }
  }
}

/** The fonts of a part of a run. */
type PartFonts = CaptionFonts & { readonly scale?: number };

export function setFont(context: SKRSContext2D, fonts: PartFonts, run: Run, fontSize: number): void {
  const files = run.kind === 'text' ? fonts.text : [fonts.emoji, ...fonts.text];
  const size = run.kind === 'text' ? fontSize * (fonts.scale ?? 1) : fontSize * style.emojiScale;
  setState(context, { size, files, weight: fonts.weight, lang: fonts.lang, rtl: run.rtl });
}

interface TextState extends Pick<CaptionFonts, 'weight' | 'lang'>, Pick<Run, 'rtl'> {
  readonly size: number;
  readonly files: readonly FontFile[];
}

/** Sets everything that measuring text depends on, because other captions and the watermark use the same canvas. */
function setState(context: SKRSContext2D, { size, files, weight, lang, rtl }: TextState): void {
  context.font = `400 ${size}px ${files.map((file) => file.alias).join(', ')}`;
  // Some variable fonts default to hairline weight.
  context.fontVariationSettings = weight === 'bold' ? '"wght" 700' : '"wght" 400';
  context.lang = lang;
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.direction = rtl ? 'rtl' : 'ltr';
}

interface PlacedPart {
  readonly text: string;
  readonly fonts: PartFonts;
  /** The position relative to the left end of the run. */
  readonly x: number;
}

/** Returns the parts of a run that are drawn separately, nearly always the whole run. */
function partsOf(context: SKRSContext2D, fonts: RunFonts, run: Run, fontSize: number): PlacedPart[] {
  const { cjk, lead } = fonts;
  const [first, ...others] = textParts(fonts, run);
  if (first === undefined || (others.length === 0 && !first.isHanMark)) {
    return [{ text: run.text, fonts: first?.isLead === true ? withLead(fonts) : fonts, x: 0 }];
  }
  const marks = cjk?.marks ? { ...fonts, text: [cjk.marks, ...fonts.text] } : fonts;
  const leading = lead && withLead(fonts);
  let end = 0;
  return [first, ...others].map(({ text, isHanMark, isLead, pull }) => {
    const usual = isHanMark ? marks : fonts;
    const part = { text, fonts: isLead && leading ? leading : usual, x: end - pull * fontSize };
    setFont(context, part.fonts, run, fontSize);
    end = part.x + context.measureText(text).width;
    return part;
  });
}

interface TextPart extends RunPart {
  /** True if the font of the style draws the part. */
  readonly isLead: boolean;
}

function textParts({ cjk, lead }: RunFonts, run: Run): TextPart[] {
  const { text, kind, rtl } = run;
  if (kind !== 'text') return [];
  const parts: RunPart[] = cjk && !rtl ? runParts(text, cjk.region) : [{ text, isHanMark: false, pull: 0 }];
  if (lead === undefined) return parts.map((part) => ({ ...part, isLead: false }));
  // Letters of a right-to-left run may join, so it stays whole, and Skia falls back for single ones.
  if (rtl) return [{ text, isHanMark: false, pull: 0, isLead: hasLetter(lead, text) }];
  return parts.flatMap((part) => (part.isHanMark ? [{ ...part, isLead: false }] : leadParts(part, lead)));
}

function hasLetter(lead: LeadFont, text: string): boolean {
  return glyphClusters(text).some((cluster) => LETTER.test(cluster) && lead.has(cluster));
}

/** Splits a part where the font of the style lacks a cluster. Spaces stay with what is before them. */
function leadParts({ text, isHanMark, pull }: RunPart, lead: LeadFont): TextPart[] {
  const parts: { text: string; isLead: boolean }[] = [];
  for (const cluster of glyphClusters(text)) {
    const last = parts.at(-1);
    const isLead = last && SPACES.test(cluster) ? last.isLead : lead.has(cluster);
    if (last?.isLead === isLead) last.text += cluster;
    else parts.push({ text: cluster, isLead });
  }
  return parts.map((part, index) => ({ ...part, isHanMark, pull: index === 0 ? pull : 0 }));
}

function withLead(fonts: RunFonts): PartFonts {
  return fonts.lead ? { ...fonts, text: [fonts.lead.file, ...fonts.text], scale: fonts.lead.scale } : fonts;
}

/**
 * Skia reports the ink of only a part of a run with several words. The padding of a bar hides that. With `isTight`,
 * words are measured one by one.
 */
export function measureRun(
  context: SKRSContext2D,
  fonts: RunFonts,
  run: Run,
  fontSize: number,
  isTight = false,
): Extent {
  let [width, ascent, descent] = [0, 0, 0];
  for (const part of partsOf(context, fonts, run, fontSize)) {
    setFont(context, part.fonts, run, fontSize);
    const metrics = context.measureText(part.text);
    width = part.x + metrics.width;
    const words = isTight ? part.text.split(/\s+/u).map((word) => context.measureText(word)) : [];
    ascent = Math.max(ascent, ...[metrics, ...words].map((ink) => ink.actualBoundingBoxAscent));
    descent = Math.max(descent, ...[metrics, ...words].map((ink) => ink.actualBoundingBoxDescent));
  }
  // Emoji are always centered on the line and never make it taller.
  return run.kind === 'text' ? { width, ascent, descent } : { width, ascent: 0, descent: 0 };
}

/** Adjacent punctuation is closer together already, so only the character at the end matters. */
export function blankAt(context: SKRSContext2D, fonts: RunFonts, side: 'left' | 'right', run: Run): number {
  const char = run.kind === 'text' && fonts.cjk ? graphemes(run.text).at(side === 'left' ? 0 : -1) : undefined;
  if (char === undefined || !FULL_WIDTH_PUNCTUATION.test(char)) return 0;
  setFont(context, partsOf(context, fonts, { ...run, text: char }, 1)[0]?.fonts ?? fonts, run, BLANK_FONT_SIZE);
  const { width, actualBoundingBoxLeft, actualBoundingBoxRight } = context.measureText(char);
  const blank = side === 'left' ? -actualBoundingBoxLeft : width - actualBoundingBoxRight;
  return Math.max(0, blank / BLANK_FONT_SIZE - LETTER_GAP);
}
