// Captions with times and subtitles, over HTTP, on the command line and in the library.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderImage, renderVideo } from '../../src/engine/index.ts';
import { plainPng } from '../pictures.ts';
import { form, post, problemOf } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { readClip } from '../video/clip.ts';
import { plainClip } from '../video/plain-clip.ts';

const SRT = '1\n00:00:00,200 --> 00:00:00,400\n<i>One</i>\n\n2\n00:00:00,300 --> 00:00:00,500\nTwo\n';
const HEIGHT = 320;

let server: SharedServer;
let folder: string;
let clip: Buffer;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-times-'));
  // Ten frames per second: each frame starts at a round time.
  const timeBase = { num: 1, den: 10 };
  clip = readFileSync(plainClip(path.join(folder, 'clip.mp4'), { width: 180, height: HEIGHT, frames: 8, timeBase }));
  server = await sharedServer();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the rows in percent of the height whose bars are in each frame. The background is gray. */
function barsIn(file: string, rows: readonly number[]): string[] {
  const { frames } = readClip(file, Number.POSITIVE_INFINITY);
  return frames.map((frame) =>
    rows.map((row) => (frame.rgb(1, Math.floor((row / 100) * HEIGHT))[1] < 90 ? 'x' : '-')).join(''),
  );
}

async function barsOf(response: Response, rows: readonly number[]): Promise<string[]> {
  expect(response.status).toBe(200);
  const file = path.join(folder, 'response.mp4');
  writeFileSync(file, Buffer.from(await response.arrayBuffer()));
  return barsIn(file, rows);
}

const askLayout = async (body: object): Promise<Response> =>
  await fetch(`${server.url}/v1/layout`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': server.key },
    body: JSON.stringify(body),
  });

describe('start and end of overlays', () => {
  const overlays = [
    { text: 'a', position: 20, start: 0.2, end: 0.4 },
    { text: 'b', position: 80, start: 0.301 },
  ];

  it('each bar of a video is shown only in the frames between its start and end', async () => {
    const response = await post(server, form({ asset: clip, overlays: JSON.stringify(overlays) }));
    expect(response.headers.get('x-warnings')).toBeNull();
    expect(await barsOf(response, [20, 80])).toEqual(['--', '--', 'x-', 'x-', '-x', '-x', '-x', '-x']);
  });

  it('start and end are ignored for an image, with a warning', async () => {
    const response = await post(
      server,
      form({ asset: await plainPng(320, 320, '#fff'), overlays: JSON.stringify(overlays) }),
    );
    expect([response.status, response.headers.get('x-warnings')]).toEqual([200, 'timing_ignored']);
  });

  it('a start beyond the end of the video leads to a warning, which strict refuses', async () => {
    const late = JSON.stringify([{ text: 'late', start: 0.8 }]);
    const response = await post(server, form({ asset: clip, overlays: late }));
    expect(response.headers.get('x-warnings')).toBe('never_shown');
    const problem = await problemOf(await post(server, form({ asset: clip, overlays: late, strict: 'true' })));
    expect([problem.status, problem.code]).toEqual([422, 'strict_warnings']);
  });

  it('start and end are checked, and all faults are reported at once', async () => {
    const invalid = JSON.stringify([
      { text: 'a', start: -1 },
      { text: 'b', start: 2, end: 1 },
    ]);
    const problem = await problemOf(await post(server, form({ asset: clip, overlays: invalid, position: '5' })));
    expect(problem.errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '#/overlays/0/start out_of_range',
      '#/overlays/1/end out_of_range',
      '#/position conflict',
    ]);
  });
});

describe('captions', () => {
  it('cues are shown at position 80, and stacked while they overlap', async () => {
    const bars = await barsOf(await post(server, form({ asset: clip, captions: SRT })), [80, 73]);
    expect(bars).toEqual(['--', '--', 'x-', 'xx', '-x', '--', '--', '--']);
  });

  it('captions are placed by position', async () => {
    const bars = await barsOf(await post(server, form({ asset: clip, captions: SRT, position: '30' })), [30, 80]);
    expect(bars).toEqual(['--', '--', 'x-', 'x-', '--', '--', '--', '--']);
  });

  it('captions are refused for images and without an asset', async () => {
    const image = await problemOf(await post(server, form({ asset: await plainPng(64, 64, '#fff'), captions: SRT })));
    const overlayOnly = await problemOf(await post(server, form({ width: '64', height: '64', captions: SRT })));
    for (const { status, code, errors } of [image, overlayOnly]) {
      expect({ status, code, errors }).toMatchObject({
        status: 400,
        code: 'invalid_fields',
        errors: [{ pointer: '#/captions', code: 'conflict' }],
      });
    }
  });

  it('every invalid cue is reported', async () => {
    const captions = '0:01 --> 0:00\nA\n\n0:01 --> 0:02\nB\n\n0:03 --> x\nC';
    const problem = await problemOf(await post(server, form({ asset: clip, captions })));
    expect(problem.errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '#/captions/0 invalid_captions',
      '#/captions/2 invalid_captions',
    ]);
  });

  it('captions can have 500 cues', async () => {
    const time = (index: number): string =>
      `00:00:0${Math.floor(index / 1_000)},${String(index % 1_000).padStart(3, '0')}`;
    const cues = Array.from({ length: 500 }, (_, index) => `${time(index)} --> ${time(index + 1)}\nCue ${index}`);
    const response = await post(server, form({ asset: clip, captions: cues.join('\n\n') }));
    // Frames are at 0, 100, 200, 300 and 400 ms, so five cues are shown.
    expect(await barsOf(response, [80])).toEqual(['x', 'x', 'x', 'x', 'x', '-', '-', '-']);
  });
});

describe('POST /v1/layout', () => {
  it('places cues and reports those that the video is too short for', async () => {
    const body = { width: 180, height: HEIGHT, captions: SRT, duration: 0.3 };
    const layout = (await (await askLayout(body)).json()) as { bars: { y: number; warnings: string[] }[] };
    expect(layout.bars.map(({ warnings }) => warnings)).toEqual([[], ['never_shown']]);
    expect(layout.bars[1]?.y).toBeLessThan(layout.bars[0]?.y ?? 0);
  });

  it('ignores times without a duration, as for an image', async () => {
    const overlays = [
      { text: 'a', end: 1 },
      { text: 'b', start: 1 },
    ];
    const size = { width: 1_000, height: 320 };
    const [image, video] = await Promise.all(
      [{}, { duration: 2 }].map(
        async (rest) => (await (await askLayout({ ...size, overlays, ...rest })).json()) as { warnings: string[] },
      ),
    );
    expect(image?.warnings).toEqual(['timing_ignored']);
    expect(video?.warnings).toEqual([]);
  });
});

describe('without a server', () => {
  it('the command line takes subtitles from a file', async () => {
    writeFileSync(path.join(folder, 'subtitles.srt'), SRT);
    const program = path.resolve(import.meta.dirname, '../../bin/storybar.js');
    const args = ['render', 'clip.mp4', '--captions', 'subtitles.srt', '--position', '30', '-o', 'cli.mp4'];
    await promisify(execFile)(process.execPath, [program, ...args], { cwd: folder });
    expect(barsIn(path.join(folder, 'cli.mp4'), [30])).toEqual(['-', '-', 'x', 'x', '-', '-', '-', '-']);
  });

  it('the library takes times and subtitles', async () => {
    const [source, output] = [path.join(folder, 'clip.mp4'), path.join(folder, 'library.mp4')];
    await renderVideo(source, output, [{ text: 'a', position: 50, end: 0.2 }]);
    expect(barsIn(output, [50])).toEqual(['x', 'x', '-', '-', '-', '-', '-', '-']);
    await renderVideo(source, output, { captions: SRT });
    expect(barsIn(output, [80])).toEqual(['-', '-', 'x', 'x', '-', '-', '-', '-']);
    await expect(renderVideo(source, output, { captions: 'x', position: 101 })).rejects.toMatchObject({
      faults: [{ pointer: '#/captions/0' }, { pointer: '#/position' }],
    });
    await expect(renderImage(await plainPng(64, 64, '#fff'), { captions: SRT })).rejects.toMatchObject({
      code: 'invalid_fields',
    });
  });
});

describe('captions of a megabyte', () => {
  const SIZE = 1_000_000;
  const fill = (unit: string, before: string): string => before + unit.repeat(Math.floor(SIZE / unit.length));
  const words = Array.from({ length: 20_000 }, (_, at) => ({ word: 'word', start: at, end: at + 1 }));
  const cues = Array.from({ length: 21_792 }, (_, at) => `${at + 1}\n00:00:01,000 --> 00:00:02,000\nHi\n`);

  it.each([
    ['inline times', fill('<00:00.000>', 'WEBVTT\n\n00:00.000 --> 00:01.000\n'), 1],
    ['cues, all at the same time', cues.join('\n'), 2],
    ['words', JSON.stringify({ words }), 1],
    ['comments', fill('NOTE\n\n', 'WEBVTT\n\n'), 1],
    ['text without times', fill('a\n\n', 'WEBVTT\n\n'), 21],
  ])('are refused with a few faults if they have too many %s', async (_what, captions, faults) => {
    const problem = await problemOf(await askLayout({ captions, width: 300, height: 400, duration: 60 }));
    expect(problem).toMatchObject({ status: 400, code: 'invalid_fields' });
    expect(problem.errors).toHaveLength(faults);
  });
});
