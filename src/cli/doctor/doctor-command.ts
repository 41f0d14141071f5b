// `storybar doctor` checks that this installation has everything it needs to render, and that what it depends on responds.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readSettings, type Settings } from '../../service/config/settings.ts';
import { GUARDS } from '../../service/dispatch/sandbox/sandbox.ts';
import { renderOverlay } from '../../engine/index.ts';
import { codecInfo } from '../../engine/media/video/probe/codecs.ts';
import { FAMILIES } from '../../engine/raster/catalogue.ts';
import { openWorkerDirectories, chooseLocalSandbox } from '../../main/local-workers.ts';
import { VERSION } from '../../main/version.ts';
import type { Print } from '../print.ts';
import type { Finding } from './finding.ts';
import { serviceChecks } from './service-checks.ts';
import { action, type Command, runActions } from '../run-actions.ts';

interface Task {
  readonly print: Print;
}

const COMMAND: Command<Task> = {
  name: 'doctor',
  actions: [
    action({
      help:
        'Check fonts, codecs and the sandbox, and with the settings of this machine the database, its schema, the clock, NATS,\n' +
        'storage, mail, Stripe prices and disk space. Nothing is migrated. The exit code is 1 if a check fails.',
      run: diagnose,
    }),
  ],
  withTask: async (print, use) => await use({ print }),
};

export async function doctorCommand(args: string[]): Promise<void> {
  await runActions(COMMAND, args);
}

async function diagnose({ print }: Task): Promise<void> {
  const settings = readSettings();
  const installation = [checkVersion(), await checkCaptions(), ...checkVideos(), await checkSandbox(settings)];
  const findings = [...installation, ...(await serviceChecks(settings))];
  const lines = findings.map(({ what, ok, detail }) => `${ok ? 'ok  ' : 'FAIL'}  ${what}: ${detail}\n`);
  print(findings, lines.join(''));
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
}

function checkVersion(): Finding {
  return {
    what: 'storybar',
    ok: true,
    detail: `${VERSION} on Node ${process.versions.node}, ${process.platform} ${process.arch}`,
  };
}

/** Draws one caption in many scripts, which exercises the fonts, the text engine and the PNG encoder. */
async function checkCaptions(): Promise<Finding> {
  const { missingGlyphs } = await renderOverlay({ width: 320, height: 320 }, 'Aа αא ع क ก 漢 あ 한 🎬');
  const detail = `${FAMILIES.length} font families, ${missingGlyphs} sample characters missing`;
  return { what: 'captions', ok: missingGlyphs === 0, detail };
}

function checkVideos(): Finding[] {
  const { ffmpeg, available } = codecInfo();
  const names = Object.keys(available);
  const missing = names.filter((name) => !available[name]);
  const detail = missing.length === 0 ? names.join(', ') : `missing ${missing.join(', ')}`;
  return [
    { what: 'ffmpeg', ok: true, detail: ffmpeg },
    { what: 'codecs', ok: missing.length === 0, detail },
  ];
}

/** Runs the same trial as the server, in a temporary directory. Fails only if the server would refuse to start. */
async function checkSandbox(settings: Settings): Promise<Finding> {
  const dataDirectory = await mkdtemp(path.join(tmpdir(), 'storybar-doctor-'));
  try {
    const directories = await openWorkerDirectories(dataDirectory);
    const choice = await chooseLocalSandbox({ ...settings, dataDirectory }, directories);
    const level = choice.sandbox?.level;
    const result = level
      ? `${level}, guards ${GUARDS[level].join(', ')}`
      : `no level available for STORYBAR_SANDBOX=${settings.sandbox}`;
    const faults = choice.faults.map((fault) => `; not ${fault.level}: ${fault.fault}`);
    return { what: 'sandbox', ok: level !== undefined, detail: result + faults.join('') };
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
}
