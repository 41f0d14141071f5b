import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BAR_ALPHA } from '../../src/engine/layout/look.ts';
import { must } from '../../src/shared/must.ts';
import type { Contender, SkippedPeer } from './contender.ts';
import { photoFileName } from './program-peers.ts';
import { findProgram, prints } from './programs.ts';
import { PEER_FONT_NAME, type Scene } from './scene.ts';

const SCRIPT = fileURLToPath(new URL('pillow.py', import.meta.url));
const OUTPUT = 'pillow.png';

/** Passes a function that stops the Python process to `onExit`. */
export async function pillow(onExit: (stop: () => void) => void): Promise<Contender | SkippedPeer> {
  const name = 'Pillow';
  const probe = ['-c', 'import PIL; print("Pillow", PIL.__version__)'];
  const python = await findProgram(['python3'], (file) => prints(file, probe, 'Pillow'));
  if (python === undefined) return { name, reason: 'python3 with PIL is not installed' };
  return {
    name,
    isProgram: true,
    prepare: async (scene) => {
      const child = spawn(python, [SCRIPT, JSON.stringify(scriptInput(scene))], {
        cwd: scene.directory,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onExit(() => child.stdin.end());
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const expectLine = async (expected: string): Promise<void> => {
        const { value } = await lines.next();
        if (value !== expected) throw new Error(`Pillow exited before it printed "${expected}"`);
      };
      await expectLine('ready');
      return async () => {
        child.stdin.write('draw\n');
        await expectLine('done');
        return path.join(scene.directory, OUTPUT);
      };
    },
  };
}

function scriptInput(scene: Scene): object {
  return {
    input: photoFileName(scene),
    output: OUTPUT,
    font: PEER_FONT_NAME,
    alpha: Math.round(BAR_ALPHA * 255),
    bars: scene.bars.map(({ top, height, fontSize, text, lines }) => {
      return { top, height, fontSize, text, baseline: top + must(lines[0], 'the line').baseline };
    }),
  };
}
