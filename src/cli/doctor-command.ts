// `storybar doctor`: what this installation is made of and whether it can do its work.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readSettings } from '../config/settings.ts';
import { PROMISES } from '../dispatch/sandbox/sandbox.ts';
import { renderOverlay } from '../index.ts';
import { codecInfo } from '../media/video/probe/codecs.ts';
import { FAMILIES } from '../raster/catalogue.ts';
import { openCells, tryOutSandboxes } from '../main/local-workers.ts';
import { VERSION } from '../main/version.ts';

interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

export async function doctorCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    process.stdout.write('storybar doctor [--json]: check this installation.\n');
    return;
  }
  const findings = [about(), await captions(), ...videos(), await sandbox()];
  process.stdout.write(
    values.json
      ? `${JSON.stringify(findings)}\n`
      : findings.map(({ what, ok, detail }) => `${ok ? 'ok  ' : 'FAIL'}  ${what}: ${detail}\n`).join(''),
  );
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
}

function about(): Finding {
  return {
    what: 'storybar',
    ok: true,
    detail: `${VERSION} on Node ${process.versions.node}, ${process.platform} ${process.arch}`,
  };
}

/** Draws one caption in many scripts: fonts, text engine and PNG writer at once. */
async function captions(): Promise<Finding> {
  const { missingGlyphs } = await renderOverlay({ width: 320, height: 320 }, 'Aа αא ع क ก 漢 あ 한 🎬');
  const detail = `${FAMILIES.length} font families, ${missingGlyphs} of the sample characters missing`;
  return { what: 'captions', ok: missingGlyphs === 0, detail };
}

function videos(): Finding[] {
  const { ffmpeg, available } = codecInfo();
  const names = Object.keys(available);
  const absent = names.filter((name) => !available[name]);
  const detail = absent.length === 0 ? names.join(', ') : `missing ${absent.join(', ')}`;
  return [
    { what: 'ffmpeg', ok: true, detail: ffmpeg },
    { what: 'codecs', ok: absent.length === 0, detail },
  ];
}

/** Tried out as the server would, in a place of its own; fails only when the server would not start. */
async function sandbox(): Promise<Finding> {
  const settings = readSettings();
  const dataDirectory = await mkdtemp(path.join(tmpdir(), 'storybar-doctor-'));
  try {
    const cells = await openCells(dataDirectory);
    const choice = await tryOutSandboxes({ ...settings, dataDirectory }, cells);
    const level = choice.sandbox?.level;
    const held = level ? `${level}, guards ${PROMISES[level].join(', ')}` : `none, but it is ${settings.sandbox}`;
    const faults = choice.faults.map((fault) => `; not ${fault.level}: ${fault.fault}`);
    return { what: 'sandbox', ok: level !== undefined, detail: held + faults.join('') };
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
}
