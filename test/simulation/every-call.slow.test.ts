// Each write to the embedded database fails once while renders and webhooks run; see `failEveryCall` in run.ts.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';

it('nothing is lost or charged twice when any single write to the database fails', () => {
  const run = path.join(import.meta.dirname, 'run.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', run, '--every-call'], {
    encoding: 'utf8',
  });
  expect(stdout + stderr).toMatch(/^\d+ calls to the database failed once/u);
  expect(status).toBe(0);
});
