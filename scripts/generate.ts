// Everything in the repository that is made from something else. `--check` fails when a file is stale.

import { readFileSync, writeFileSync } from 'node:fs';
import { generateCoverage } from './generate-coverage.ts';

const GENERATED: Readonly<Record<string, () => string>> = {
  'src/raster/coverage.generated.ts': generateCoverage,
};

const check = process.argv.includes('--check');
const stale: string[] = [];
for (const [file, generate] of Object.entries(GENERATED)) {
  const wanted = generate();
  if (check ? readOrEmpty(file) !== wanted : false) stale.push(file);
  if (!check) writeFileSync(file, wanted);
}
if (stale.length > 0) {
  console.error(`stale, run \`npm run generate\`: ${stale.join(', ')}`);
  process.exitCode = 1;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
