import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders and files whose tests take longest, slowest first. */
const SLOWEST = [
  'test/store/ledger-model',
  'test/faults/',
  'test/browser/',
  'test/video/',
  'test/pages/',
  'test/command-line',
  'test/api/',
  'test/site/',
  'test/store/',
  'test/',
];

/** Starts long files first, so that at the end of a run no worker is still busy with one while the others are idle. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- this isn't an array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const file = path.relative(process.cwd(), moduleId).split(path.sep).join('/');
  const index = SLOWEST.findIndex((prefix) => file.startsWith(prefix));
  return index === -1 ? SLOWEST.length : index;
}
