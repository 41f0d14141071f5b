import { expect, it } from 'vitest';
import { CopyProgress } from './copy-progress.ts';

function progressOn(isTTY: boolean): { readonly printed: string[]; readonly at: (ms: number, share: number) => void } {
  const printed: string[] = [];
  let now = 0;
  const output = { isTTY, write: (text: string | Uint8Array) => printed.push(String(text)) > 0 };
  const progress = new CopyProgress(output, () => now);
  const at = (ms: number, share: number): void => {
    now = ms;
    progress.show({ table: 'requests', share });
  };
  return { printed, at };
}

it('the progress of a copy prints a line every ten seconds where the output is not a terminal', () => {
  const { printed, at } = progressOn(false);
  at(9_000, 0.1);
  at(10_000, 0.257);
  at(12_000, 0.3);
  at(20_000, 0.999);
  expect(printed).toEqual(['25 % copied and verified (requests)\n', '99 % copied and verified (requests)\n']);
});

it('redraws a bar on a terminal', () => {
  const { printed, at } = progressOn(true);
  at(200, 0.5);
  expect(printed).toEqual([expect.stringContaining('50 %  requests')]);
});
