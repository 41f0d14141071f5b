// Measures what HTTP, the disk and the worker process add to a library call with the same photo.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SkippedPeer } from './contender.ts';
import { type Library, startLibrary } from './library.ts';
import type { Photo } from './pictures.ts';
import { interleave, median, type Series } from './rounds.ts';
import { CAPTIONS } from './scene.ts';
import { isBuilt, multipart, type OverlayResponse, type Server, startServer } from './server.ts';
import { stepMedians } from './steps.ts';

export interface Overhead {
  readonly http: Series<unknown>;
  readonly library: Series<unknown>;
  readonly renderMs: number;
  readonly steps: string;
}

/** The difference of two short times needs more rounds than the ratio of long ones. */
const ROUNDS_PER_ROUND = 6;
/** Warms up, because the code of a server in use is compiled. */
const WARM_UPS = 40;

export async function measureOverhead(photo: Photo, rounds: number): Promise<Overhead | SkippedPeer> {
  if (!isBuilt()) return { name: 'server', reason: 'not built; run `npm run build` first' };
  const directory = await mkdtemp(path.join(tmpdir(), 'storybar-bench-server-'));
  try {
    const file = path.join(directory, 'photo.jpg');
    await writeFile(file, photo.jpeg);
    const server = await startServer(path.join(directory, 'data'));
    const library = startLibrary(file);
    try {
      return await compare(server, library, photo, rounds * ROUNDS_PER_ROUND);
    } finally {
      library.close();
      await server.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function compare(server: Server, bareLibrary: Library, photo: Photo, rounds: number): Promise<Overhead> {
  const body = multipart(photo.jpeg, CAPTIONS);
  const responses: OverlayResponse[] = [];
  for (let count = 0; count < WARM_UPS; count += 1) {
    await server.overlay(body);
    await bareLibrary.render();
  }
  const [http, library] = await interleave<unknown>(
    [
      { name: 'HTTP round trip', run: async () => responses.push(await server.overlay(body)) },
      { name: 'library call', run: () => bareLibrary.render() },
    ],
    rounds,
  );
  if (!http || !library) throw new Error('nothing was measured');
  const measured = responses.slice(-rounds);
  return {
    http,
    library,
    renderMs: median(measured.map(({ renderMs }) => renderMs)),
    steps: stepMedians(measured.map(({ steps }) => steps)),
  };
}
