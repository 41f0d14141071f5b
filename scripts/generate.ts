// Writes all generated files, or those that are named. With `--check`, fails if one of them is out of date.

import { readFileSync, writeFileSync } from 'node:fs';
import { generateClientLists } from './generate-client-lists.ts';
import { generateClientTypes } from './generate-client-types.ts';
import {
  generateHeifConverter,
  generateJpegCodec,
  generatePngEncoder,
  generateToneMapper,
} from './generate-assembly.ts';
import { generateCollection } from './generate-collection.ts';
import { generateCoverage } from './generate-coverage.ts';
import { generateConfiguration, generateErrors, generateOpenApi } from './generate-docs.ts';
import { generateGrayEmoji } from './generate-gray-emoji.ts';
import { generateHanUsage } from './generate-han-usage.ts';
import { generateNotices } from './generate-notices.ts';
import { generatePythonTypes } from './generate-python-types.ts';
import { generateReference } from './generate-reference.ts';
import { generateSourceSize } from './generate-source-size.ts';

const GENERATED: Readonly<Record<string, () => string>> = {
  'src/engine/raster/coverage.generated.ts': generateCoverage,
  'src/engine/raster/han-usage.generated.ts': generateHanUsage,
  'src/engine/raster/png/encoder.generated.ts': generatePngEncoder,
  'src/engine/raster/jpeg/codec.generated.ts': generateJpegCodec,
  'src/engine/layout/gray-emoji.generated.ts': generateGrayEmoji,
  'src/engine/media/video/frames/tone-mapper.generated.ts': generateToneMapper,
  'src/engine/media/heif/converter.generated.ts': generateHeifConverter,
  'docs/api.md': generateReference,
  'docs/configuration.md': generateConfiguration,
  'docs/errors.md': generateErrors,
  'docs/openapi.json': generateOpenApi,
  'clients/typescript/src/schema.generated.ts': generateClientTypes,
  'clients/python/src/storybar/_types.py': generatePythonTypes,
  'clients/mcp/src/lists.generated.ts': generateClientLists,
  'clients/n8n/nodes/Storybar/lists.generated.ts': generateClientLists,
  'docs/integrations/storybar.postman_collection.json': generateCollection,
  'THIRD_PARTY_NOTICES.md': generateNotices,
  'test/source-size.json': generateSourceSize,
};

const check = process.argv.includes('--check');
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const stale: string[] = [];
for (const [file, generate] of Object.entries(GENERATED)) {
  if (only.length > 0 && !only.includes(file)) continue;
  const content = generate();
  if (!check) writeFileSync(file, content);
  else if (readOrEmpty(file) !== content) stale.push(file);
}
if (stale.length > 0) {
  console.error(`out of date, run \`npm run generate\`: ${stale.join(', ')}`);
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
