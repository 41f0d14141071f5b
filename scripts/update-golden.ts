// Renders all golden images again. Only this script writes test/golden/*.png. Review each image before you commit it.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createRenderTools } from '../src/render/renderer-tools.ts';
import { GOLDEN_CASES } from '../test/golden/cases.ts';
import { encodeGolden, renderGolden } from '../test/golden/picture.ts';

const folder = path.join(import.meta.dirname, '..', 'test', 'golden');
for (const file of readdirSync(folder)) if (file.endsWith('.png')) rmSync(path.join(folder, file));

const tools = createRenderTools();
for (const golden of GOLDEN_CASES) {
  writeFileSync(path.join(folder, `${golden.name}.png`), await encodeGolden(await renderGolden(golden, tools)));
}
console.log(`Rendered ${GOLDEN_CASES.length} golden images. Review them before you commit.`);
