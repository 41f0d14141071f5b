import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BAR_ALPHA } from '../../src/layout/style.ts';
import type { Absent, Contender } from './contender.ts';
import { pictureName } from './program-peers.ts';
import { findProgram, prints } from './programs.ts';
import { PEER_FONT_NAME, type Scene } from './scene.ts';

const SCRIPT = fileURLToPath(new URL('pillow.py', import.meta.url));
const OUTPUT = 'pillow.png';

/** `onExit` receives how to end each process that was started. */
export async function pillow(onExit: (stop: () => void) => void): Promise<Contender | Absent> {
  const name = 'Pillow';
  const probe = ['-c', 'import PIL; print("Pillow", PIL.__version__)'];
  const python = await findProgram(['python3'], (file) => prints(file, probe, 'Pillow'));
  if (python === undefined) return { name, absent: 'no python3 with PIL is installed' };
  return {
    name,
    prepare: async (scene) => {
      const child = spawn(python, [SCRIPT, JSON.stringify(toScript(scene))], {
        cwd: scene.directory,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onExit(() => child.stdin.end());
      const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const expect = async (word: string): Promise<void> => {
        const { value } = await answers.next();
        if (value !== word) throw new Error(`Pillow stopped instead of saying "${word}"`);
      };
      await expect('ready');
      return async () => {
        child.stdin.write('draw\n');
        await expect('done');
        return path.join(scene.directory, OUTPUT);
      };
    },
  };
}

function toScript(scene: Scene): object {
  return {
    input: pictureName(scene),
    output: OUTPUT,
    font: PEER_FONT_NAME,
    alpha: Math.round(BAR_ALPHA * 255),
    bars: scene.bars.map(({ top, height, fontSize, text, lines }) => {
      return { top, height, fontSize, text, baseline: top + (lines[0]?.baseline ?? 0) };
    }),
  };
}
