// `storybar render` of the built program, and the library as an import.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decode, plainPng } from './pictures.ts';
import { type CommandResult, runCommand } from './run-command.ts';
import { makeClip, readClip } from './video/clip.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-cli-'));
  writeFileSync(path.join(folder, 'photo.png'), await plainPng(300, 500, '#fff'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function storybar(...args: string[]): Promise<CommandResult> {
  return await runCommand(args, { cwd: folder, env: { PATH: process.env['PATH'] ?? '' } });
}

/** Like `storybar`, in a process of its own, with the bytes that it writes to standard output. It gets no settings. */
async function storybarProcess(...args: string[]) {
  const program = path.join(ROOT, 'bin/storybar.js');
  return await promisify(execFile)(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: 'buffer',
    env: { PATH: process.env['PATH'] ?? '' },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr: stderr.toString() }),
    (error: { code: number; stdout: Buffer; stderr: Buffer }) => ({
      code: error.code,
      stdout: error.stdout,
      stderr: error.stderr.toString(),
    }),
  );
}

describe('storybar render', () => {
  it('takes a URL in place of a file', async () => {
    const files = createServer((_request, response) => response.end(readFileSync(path.join(folder, 'photo.png'))));
    files.listen(0, '127.0.0.1');
    await once(files, 'listening');
    const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/holiday.png`;
    const { code, stderr } = await storybar('render', url, '--text', 'Hello');
    files.close();
    expect([code, stderr]).toEqual([0, expect.stringContaining('holiday-captioned.png: 300x500')]);
  });

  it('writes next to the image by default', async () => {
    const { code, stderr } = await storybarProcess('render', 'photo.png', '--text', 'Hello');
    expect([code, stderr]).toEqual([0, expect.stringContaining('photo-captioned.png: 300x500')]);
    expect(await decode(readFileSync(path.join(folder, 'photo-captioned.png')))).toMatchObject({ width: 300 });
  });

  it('writes a transparent overlay to standard output when there is no image', async () => {
    const { code, stdout } = await storybarProcess(
      'render',
      '--width',
      '64',
      '--height',
      '32',
      '--text',
      'Hello',
      '-o',
      '-',
    );
    expect(code).toBe(0);
    expect(await decode(stdout)).toMatchObject({ width: 64, height: 32, channels: 4 });
  });

  it('accepts several overlays', async () => {
    const overlays = '[{"text":"a","position":0},{"text":"b"}]';
    const { code } = await storybar('render', 'photo.png', '--overlays', overlays, '-o', 'two.png');
    expect(code).toBe(0);
    expect(await decode(readFileSync(path.join(folder, 'two.png')))).toMatchObject({ height: 500 });
  });

  it.each([
    [['render', 'photo.png'], 65, 'Give --text, --overlays or --captions'],
    [['render', 'photo.png', '--text', 'x'.repeat(181)], 65, '181 characters'],
    [['render', 'nowhere.jpg', '--text', 'a'], 65, 'File nowhere.jpg not found'],
    [['render', '--text', 'a'], 65, 'both --width and --height'],
    [['render', 'photo.png', 'photo.png', '--text', 'a'], 64, 'give one asset at a time'],
    [['render', 'photo.png', '--txet', 'a'], 64, 'unknown option "--txet"; did you mean --text?'],
    [['rendr', 'photo.png'], 64, 'unknown command "rendr"; did you mean render?'],
    [['keys', 'rotat', 'x'], 64, 'did you mean rotate?'],
    [['render', 'photo.png', '--text', 'a', '-o', 'x.gif'], 64, 'use one of these names'],
    [['render', 'photo.png', '--text', 'a', '--format', 'png', '-o', 'x.jpg'], 64, 'disagree'],
    [['render', 'photo.png', '--text', 'a', '-o', 'x.mp4'], 65, '--format'],
  ])('storybar %j exits with %i', async (args, code, message) => {
    const result = await storybar(...args);
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  it('captions a video, but refuses to write it to standard output', async () => {
    const clip = path.join(folder, 'clip.mp4');
    const paint = (plane: number): number => (plane === 0 ? 180 : 128);
    const size = { width: 64, height: 96, frames: 5 };
    makeClip({ path: clip, container: 'mp4', codec: 'libx264', pixelFormat: 'yuv420p', paint, ...size });
    const { code, stderr } = await storybar('render', 'clip.mp4', '--text', 'Hello');
    expect([code, stderr]).toEqual([0, expect.stringContaining('clip-captioned.mp4: 64x96, 5 frames')]);
    expect(readClip(path.join(folder, 'clip-captioned.mp4'))).toMatchObject({ width: 64, height: 96, codec: 'h264' });
    expect(await storybar('render', 'clip.mp4', '--text', 'Hello', '-o', '-')).toMatchObject({ code: 64 });
    expect(await storybar('render', 'clip.mp4', '--text', 'Again', '-o', 'clip.mp4')).toMatchObject({ code: 0 });
    expect(readClip(clip)).toMatchObject({ width: 64, height: 96 });
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('makes a transparent video of captions in the format that the name says', async () => {
    writeFileSync(path.join(folder, 'words.srt'), '1\n00:00:00,000 --> 00:00:00,500\nFirst\n');
    const clip = ['render', '--width', '64', '--height', '96', '--duration', '1', '--fps', '4'];
    for (const [name, captions] of [
      ['bars.webm', ['--captions', 'words.srt']],
      ['bars.mov', ['--overlays', '[{"text":"a","end":0.5},{"text":"b","position":80}]', '--style', 'box']],
      ['bars.apng', ['--text', 'Hi', '--safe-area', 'reels']],
    ] as const) {
      const { code, stderr } = await storybar(...clip, ...captions, '-o', name);
      expect([code, stderr]).toEqual([0, `${name}: 64x96, 1 s\n`]);
    }
    expect(readClip(path.join(folder, 'bars.mov'))).toMatchObject({ width: 64, height: 96, codec: 'prores' });
    expect(readFileSync(path.join(folder, 'bars.apng')).includes('acTL')).toBe(true);
    expect(await storybar(...clip, '--text', 'Hi')).toMatchObject({ code: 0, stderr: 'overlay.webm: 64x96, 1 s\n' });
    expect(await storybar(...clip, '--text', 'Hi', '-o', '-')).toMatchObject({ code: 64 });
    expect(await storybar(...clip, '--text', 'Hi', '-o', 'x.mp4')).toMatchObject({ code: 65 });
  });

  it('limits the size of videos and covers with --max-bytes', async () => {
    const paint = (plane: number, x: number, y: number, frame: number): number =>
      plane === 0 ? 40 + (((x * 7919 + y * 104_729 + frame * 1_299_709) % 1_009) * 160) / 1_009 : 128;
    const size = { width: 320, height: 240, frames: 12 };
    const file = path.join(folder, 'noise.mp4');
    makeClip({ path: file, container: 'mp4', codec: 'libx264', pixelFormat: 'yuv420p', paint, ...size });
    const noise = ['render', 'noise.mp4', '--text', 'Hello'];
    const bytesOf = (name: string): number => statSync(path.join(folder, name)).size;
    expect(await storybar(...noise, '-o', 'large.mp4')).toMatchObject({ code: 0 });
    const limit = Math.round(bytesOf('large.mp4') / 2);
    expect(await storybar(...noise, '-o', 'small.mp4', '--max-bytes', String(limit))).toMatchObject({ code: 0 });
    expect(bytesOf('small.mp4')).toBeLessThanOrEqual(limit);
    const cover = [...noise, '--at', '0.1', '-o', 'cover.jpg'];
    expect(await storybar(...cover)).toMatchObject({ code: 0 });
    expect(bytesOf('cover.jpg')).toBeGreaterThan(22_000);
    expect(await storybar(...cover, '--max-bytes', '22000')).toMatchObject({ code: 0 });
    expect(bytesOf('cover.jpg')).toBeLessThanOrEqual(22_000);
    expect(await storybar(...noise, '-o', 'x.mp4', '--max-bytes', '100')).toMatchObject({ code: 65 });
  });

  it("refuses a file that isn't an image or a video", async () => {
    writeFileSync(path.join(folder, 'list.jpg'), '#EXTM3U\n');
    const refused = await storybar('render', 'list.jpg', '--text', 'a');
    expect(refused).toMatchObject({ code: 65, stderr: expect.stringMatching(/JPEG.*Matroska/u) });
  });

  it.each([
    ['x.jpg', 'ffd8'],
    ['x.JPEG', 'ffd8'],
    ['x.webp', '5249'],
    ['x.png', '8950'],
    ['x', '8950'],
  ])('writes %s in the format that its name says', async (name, signature) => {
    expect(await storybar('render', 'photo.png', '--text', 'Hi', '-o', name)).toMatchObject({ code: 0 });
    expect(readFileSync(path.join(folder, name)).subarray(0, 2).toString('hex')).toBe(signature);
  });

  it('prints nothing with --quiet', async () => {
    const { code, stdout, stderr } = await storybar('render', 'photo.png', '--text', 'Hi', '-o', 'q.png', '--quiet');
    expect([code, stdout, stderr]).toEqual([0, '', '']);
  });
});

describe('storybar', () => {
  it('prints its version and its commands', async () => {
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect((await storybarProcess('--version')).stdout.toString()).toBe(`${version}\n`);
    expect((await storybar('--help')).stdout).toContain('storybar keys create');
  });
});

describe('storybar completion', () => {
  it.each(['bash', 'zsh', 'fish'])('knows every command and its options: %s', async (shell) => {
    const { code, stdout } = await storybarProcess('completion', shell);
    expect(code).toBe(0);
    for (const word of ['render', 'send', 'accounts', 'safe-area', 'idempotency-key', 'approve', 'rotate'])
      expect(stdout.toString()).toContain(word);
  });

  it('completes in bash', async () => {
    const script = (await storybarProcess('completion', 'bash')).stdout.toString();
    const complete = async (...words: string[]): Promise<string[]> => {
      const call = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _storybar; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout } = await promisify(execFile)('bash', ['-c', `${script}\n${call}`]);
      return stdout.trim().split('\n');
    };
    expect(await complete('storybar', 're')).toEqual(['render']);
    expect(await complete('storybar', 'render', '--sa')).toEqual(['--safe-area']);
    expect(await complete('storybar', 'keys', 'ro')).toEqual(['rotate']);
  });
});

describe('storybar doctor', () => {
  it('finds fonts, codecs and the sandbox working', async () => {
    const { code, stdout } = await storybarProcess('doctor', '--json');
    expect(code).toBe(0);
    const findings = JSON.parse(stdout.toString()) as { what: string; ok: boolean; detail: string }[];
    expect(findings.map(({ what, ok }) => `${what} ${ok}`)).toEqual([
      'storybar true',
      'captions true',
      'ffmpeg true',
      'codecs true',
      'sandbox true',
      'database true',
      'storage true',
      'plans true',
      'disk true',
    ]);
    expect(findings[3]?.detail).toContain('encode libx264');
  });
});

describe('library', () => {
  it('renders when it is imported by its package name', async () => {
    const script = `
      import { renderImage, renderOverlay, StorybarError } from 'storybar';
      const image = await renderImage(${JSON.stringify(path.join(folder, 'photo.png'))}, 'Hello');
      const overlay = await renderOverlay({ width: 64, height: 64 }, [{ text: 'a', position: 10 }]);
      const refused = await renderImage(new Uint8Array(3), 'a').catch((error) => error instanceof StorybarError && error.code);
      console.log(JSON.stringify([image.width, image.height, overlay.bytes.length > 60, refused]));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      cwd: ROOT,
    });
    expect(JSON.parse(stdout)).toEqual([300, 500, true, 'unsupported_asset']);
  });
});
