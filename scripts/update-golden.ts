// Renders golden images again: all of them, or only the cases named on the command line. Only this script writes
// test/golden/*.png and, with all cases, assets/samples/*.png. Review each image before you commit it.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ALL_SAMPLES, overlayFile } from '../src/site/samples.ts';
import { renderOverlay } from '../src/engine/index.ts';
import { createRenderTools } from '../src/engine/render/renderer-tools.ts';
import { GOLDEN_CASES } from '../test/golden/cases.ts';
import { encodeGolden, renderGolden } from '../test/golden/picture.ts';

const folder = path.join(import.meta.dirname, '..', 'test', 'golden');
const names = process.argv.slice(2);
const unknown = names.filter((name) => !GOLDEN_CASES.some((golden) => golden.name === name));
if (unknown.length > 0) throw new Error(`no golden case is named ${unknown.join(', ')}`);

const chosen = GOLDEN_CASES.filter(({ name }) => names.length === 0 || names.includes(name));
for (const file of readdirSync(folder)) {
  const isCase = GOLDEN_CASES.some(({ name }) => file === `${name}.png`);
  if (file.endsWith('.png') && !isCase) rmSync(path.join(folder, file));
}
const tools = createRenderTools();
for (const golden of chosen) {
  const image = await encodeGolden(await renderGolden(golden, tools), golden.photo !== undefined);
  writeFileSync(path.join(folder, `${golden.name}.png`), image);
}
if (names.length === 0) {
  for (const sample of ALL_SAMPLES) {
    const { bytes } = await renderOverlay(sample, sample.overlays);
    writeFileSync(path.join(import.meta.dirname, '..', 'assets', overlayFile(sample)), bytes);
  }
}
console.log(`Rendered ${chosen.length} golden images. Review them before you commit.`);
