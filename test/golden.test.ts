// Compares renders with reference images that a person has reviewed. Only `npm run golden:update` writes those.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanText } from '../src/engine/caption/clean.ts';
import { lengthProblem } from '../src/engine/caption/text-rules.ts';
import { ALL_SAMPLES, overlayFile } from '../src/site/samples.ts';
import { renderOverlay } from '../src/engine/index.ts';
import { createRenderTools } from '../src/engine/render/renderer-tools.ts';
import { GOLDEN_CASES, type GoldenCase } from './golden/cases.ts';
import { decodeGolden, onGray, renderGolden, SHARE_TOLERANCE, shareOfDifferentPixels } from './golden/picture.ts';

const FOLDER = path.join(import.meta.dirname, 'golden');
const tools = createRenderTools();

function caseNamed(name: string): GoldenCase {
  const found = GOLDEN_CASES.find((golden) => golden.name === name);
  if (!found) throw new Error(`there is no golden case ${name}`);
  return found;
}

describe('golden images', () => {
  it.each(GOLDEN_CASES)('match the render of $name', async (golden) => {
    const file = path.join(FOLDER, `${golden.name}.png`);
    expect(
      existsSync(file),
      `test/golden/${golden.name}.png is missing; run npm run golden:update and review the image`,
    ).toBe(true);
    const drawn = await renderGolden(golden, tools);
    expect(shareOfDifferentPixels(drawn, await decodeGolden(file))).toBeLessThanOrEqual(SHARE_TOLERANCE);
  });

  it('each belong to an existing case', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.png'));
    expect(files.toSorted()).toEqual(GOLDEN_CASES.map(({ name }) => `${name}.png`).toSorted());
  });

  it('golden images show captions that the API accepts, without missing glyphs', () => {
    for (const { overlays } of GOLDEN_CASES) {
      for (const { text } of overlays) {
        expect(text).toBe(cleanText(text));
        expect(lengthProblem(text)).toBeUndefined();
        expect(tools.text.drawable(text).missingGlyphs).toBe(0);
      }
    }
  });
});

describe('the overlays of the front page', () => {
  it.each(ALL_SAMPLES)('match the render of $name', async (sample) => {
    const { bytes } = await renderOverlay(sample, sample.overlays);
    const file = path.join(import.meta.dirname, '../assets', overlayFile(sample));
    // On gray, the comparison sees the alpha of every pixel.
    const [drawn, stored] = await Promise.all([onGray(bytes), onGray(file)]);
    expect(shareOfDifferentPixels(drawn, stored), 'run npm run golden:update').toBeLessThanOrEqual(SHARE_TOLERANCE);
  });
});

describe('the tolerance of the golden comparison', () => {
  const ONE_LINE = caseNamed('latin-one-line');

  it('the golden comparison finds no difference between two renders of the same case', async () => {
    const [first, second] = [await renderGolden(ONE_LINE, tools), await renderGolden(ONE_LINE, tools)];
    expect(shareOfDifferentPixels(first, second)).toBe(0);
  });

  it.each([
    ['a different letter', 'latin-one-line', (text: string) => text.replace('lake', 'lace')],
    ['a different accent', 'latin-accents', (text: string) => text.replace('Č', 'Ċ')],
    ['a missing punctuation mark', 'latin-five-lines', (text: string) => text.replace('!!!', '!!')],
    ['a different Hebrew letter', 'hebrew-digits-parentheses', (text: string) => text.replace('ה', 'ח')],
    ['a different vowel sign', 'devanagari', (text: string) => text.replace('मौसम', 'मोसम')],
    ['a different emoji', 'emoji-kinds', (text: string) => text.replace('👍🏿', '👍🏾')],
  ])('the golden comparison detects %s', async (_name, name, change) => {
    const golden = caseNamed(name);
    const overlays = golden.overlays.map((overlay) => ({ ...overlay, text: change(overlay.text) }));
    expect(overlays).not.toEqual(golden.overlays);
    const changed = await renderGolden({ ...golden, overlays }, tools);
    expect(shareOfDifferentPixels(changed, await renderGolden(golden, tools))).toBeGreaterThan(SHARE_TOLERANCE);
  });

  it('the golden comparison detects a bar that is off by one pixel', async () => {
    const moved = { ...ONE_LINE, overlays: ONE_LINE.overlays.map(({ text }) => ({ text, position: 50.2 })) };
    const difference = shareOfDifferentPixels(await renderGolden(moved, tools), await renderGolden(ONE_LINE, tools));
    expect(difference).toBeGreaterThan(SHARE_TOLERANCE);
  });
});
