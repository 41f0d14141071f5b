// What the way through HTTP, disk and a worker process adds to the bare library call, on the same photo.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Absent } from './contender.ts';
import { type Library, startLibrary } from './library.ts';
import type { Picture } from './pictures.ts';
import { interleave, median, type Series } from './rounds.ts';
import { CAPTIONS } from './scene.ts';
import { type Answer, isBuilt, multipart, type Server, startServer } from './server.ts';
import { stepMedians } from './steps.ts';

export interface Overhead {
  readonly http: Series<unknown>;
  readonly library: Series<unknown>;
  readonly renderMs: number;
  readonly steps: string;
}

/** A difference of two small times needs more rounds than a ratio of large ones. */
const ROUNDS_PER_ROUND = 6;
/** A server that is in use has its code compiled. */
const WARM_UPS = 40;

export async function measureOverhead(picture: Picture, rounds: number): Promise<Overhead | Absent> {
  if (!isBuilt()) return { name: 'server', absent: 'not built, run `npm run build` first' };
  const directory = await mkdtemp(path.join(tmpdir(), 'storybar-bench-server-'));
  try {
    const photo = path.join(directory, 'photo.jpg');
    await writeFile(photo, picture.jpeg);
    const server = await startServer(path.join(directory, 'data'));
    const library = startLibrary(photo);
    try {
      return await compare(server, library, picture, rounds * ROUNDS_PER_ROUND);
    } finally {
      library.close();
      await server.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function compare(server: Server, bare: Library, picture: Picture, rounds: number): Promise<Overhead> {
  const body = multipart(picture.jpeg, CAPTIONS);
  const answers: Answer[] = [];
  for (let count = 0; count < WARM_UPS; count += 1) {
    await server.overlay(body);
    await bare.render();
  }
  const [http, library] = await interleave<unknown>(
    [
      { name: 'HTTP round trip', run: async () => answers.push(await server.overlay(body)) },
      { name: 'library call', run: () => bare.render() },
    ],
    rounds,
  );
  if (!http || !library) throw new Error('nothing was measured');
  const warm = answers.slice(-rounds);
  return {
    http,
    library,
    renderMs: median(warm.map((answer) => answer.renderMs)),
    steps: stepMedians(warm.map((answer) => answer.steps)),
  };
}
