// The sound that speech recognition gets: its format, and that every sample is where it is heard.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { extractSpeech } from '../../src/engine/media/video/sound/speech-track.ts';
import { must } from '../../src/shared/must.ts';
import { composeSoundRecipe, composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { secondsOf } from '../transcription-stand-in.ts';
import { plainClip } from './plain-clip.ts';
import { workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

async function soundOf(path: string, format: 'mp4' | 'mov' | 'webm' = 'mp4'): Promise<Buffer> {
  return (await extract(path, format)).wav;
}

async function extract(path: string, format: 'mp4' | 'mov' | 'webm'): Promise<{ wav: Buffer; audible: string }> {
  const recipe = composeVideoRecipe(probeVideo(path, format, { maxSide: 4_096 }), [], DEFAULT_VIDEO_LIMITS);
  const out = `${path}.wav`;
  const audible = await extractSpeech(must(composeSoundRecipe(recipe), 'the sound'), path, out);
  return { wav: readFileSync(out), audible };
}

/** Seconds at which the sound starts to be heard. */
function firstLoud(wav: Buffer): number {
  for (let at = 44; at + 1 < wav.length; at += 2) if (Math.abs(wav.readInt16LE(at)) > 1_000) return (at - 44) / 32_000;
  return Number.NaN;
}

const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;
const ffmpeg = (...args: string[]): void => void execFileSync('ffmpeg', ['-v', 'error', '-y', ...args]);

describe('the sound for speech recognition', () => {
  it.each([
    ['aac', 'mp4', 44_100],
    ['libmp3lame', 'mp4', 24_000],
    ['pcm_s16le', 'mov', 8_000],
  ] as const)(
    '%s in %s at %i Hz becomes one channel at 16 kHz of the same length',
    async (codec, container, sampleRate) => {
      const path = plainClip(work.path(`${codec}.${container}`), {
        container,
        frames: 60,
        audio: { codec, seconds: 2, sampleRate },
      });
      const wav = await soundOf(path, container);
      expect(wav.readUInt32LE(24)).toBe(16_000);
      expect(Math.abs(secondsOf(wav) - 2)).toBeLessThan(0.1);
      expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
    },
  );

  it('the measurement says for every tenth of a second whether the sound reaches -50 dBFS', async () => {
    const clip = async (name: string, amplitude: (seconds: number) => number): Promise<string> => {
      const audio = { codec: 'pcm_s16le', seconds: 2, sampleRate: 16_000, amplitude };
      const options = { container: 'mov', frames: 20, timeBase: { num: 1, den: 10 }, audio } as const;
      return (await extract(plainClip(work.path(`${name}.mov`), options), 'mov')).audible;
    };
    const [above, below] = [10 ** (-49.5 / 20), 10 ** (-50.5 / 20)];
    expect(await clip('loud', () => 0.5)).toMatch(/^1{19,20}0?$/u);
    expect(await clip('quiet', () => above)).toMatch(/^1{19,20}0?$/u);
    expect(await clip('silent', () => below)).toBe('0'.repeat(20));
    expect(await clip('half', (seconds) => (seconds < 1 ? 0 : 0.5))).toMatch(/^0{10}1{9,10}0?$/u);
  });

  it.skipIf(!has('ffmpeg'))('a video whose sound starts later has silence until then (needs ffmpeg)', async () => {
    const path = work.path('late.mp4');
    const beep = 'sine=frequency=440:duration=1:sample_rate=48000,volume=4';
    const inputs = ['-f', 'lavfi', '-i', 'color=gray:s=96x64:r=10:d=3', '-itsoffset', '1.5', '-f', 'lavfi', '-i', beep];
    ffmpeg(...inputs, '-map', '0:v', '-map', '1:a', '-c:v', 'libx264', '-c:a', 'aac', path);
    const wav = await soundOf(path);
    expect(Math.abs(firstLoud(wav) - 1.5)).toBeLessThan(0.05);
  });

  it.skipIf(!has('ffmpeg'))('a gap in the sound stays a gap (needs ffmpeg)', async () => {
    const path = work.path('gap.mkv');
    const cut = "aselect='not(between(t,0.5,2))'";
    const sound = `sine=frequency=440:duration=3:sample_rate=48000,volume=4,${cut}`;
    const inputs = ['-f', 'lavfi', '-i', 'color=gray:s=96x64:r=10:d=3', '-f', 'lavfi', '-i', sound];
    ffmpeg(...inputs, '-c:v', 'libx264', '-c:a', 'pcm_s16le', path);
    const wav = await soundOf(path, 'webm');
    expect(Math.abs(secondsOf(wav) - 3)).toBeLessThan(0.1);
    const loudAt = (seconds: number): boolean => {
      const at = 44 + Math.round(seconds * 16_000) * 2;
      return firstLoud(Buffer.concat([Buffer.alloc(44), wav.subarray(at, at + 3_200)])) >= 0;
    };
    expect([0.2, 1, 2.5].map(loudAt)).toEqual([true, false, true]);
  });

  it.skipIf(!has('espeak-ng') || !has('ffmpeg'))(
    'words of real speech are where they are spoken (needs espeak-ng and ffmpeg)',
    async () => {
      const [spoken, path] = [work.path('spoken.wav'), work.path('spoken.mp4')];
      execFileSync('espeak-ng', ['-w', spoken, 'Hello']);
      const sound = ['-itsoffset', '0.8', '-i', spoken, '-f', 'lavfi', '-i', 'color=gray:s=96x64:r=10:d=3'];
      ffmpeg(...sound, '-map', '1:v', '-map', '0:a', '-c:v', 'libx264', '-c:a', 'aac', '-ar', '44100', path);
      const before = firstLoud(readFileSync(spoken)) * (16_000 / 22_050);
      const wav = await soundOf(path);
      expect(Math.abs(firstLoud(wav) - 0.8 - before)).toBeLessThan(0.05);
    },
  );
});
