// The server runs out of file descriptors. It must refuse requests, keep running, and serve again once some are free.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { closedLoad, served, servedShare } from '../load.ts';
import { smallForm } from '../payloads.ts';
import { openDescriptors } from '../processes.ts';
import type { Scenario } from '../world.ts';

const PRLIMIT = '/usr/bin/prlimit';
const SPARE_DESCRIPTORS = 20;
const CONNECTIONS = 300;

export const descriptors: Scenario = {
  name: 'descriptors',
  parallel: true,
  about: `${SPARE_DESCRIPTORS} file descriptors left, then ${CONNECTIONS} connections`,
  run: async (world) => {
    if (!existsSync(PRLIMIT)) return world.skip('prlimit is not installed');
    const body = await smallForm();
    await world.withServer({ settings: { STORYBAR_LOG_LEVEL: 'warn' } }, async ({ subject, request }) => {
      const send = async () => await request({ key: subject.key, body });
      await send();
      const limit = openDescriptors(subject.pid) + SPARE_DESCRIPTORS;
      execFileSync(PRLIMIT, ['--pid', String(subject.pid), `--nofile=${limit}:${limit}`]);
      // Enough concurrent clients that the server also opens files when no descriptor is left.
      const { responses: scarce } = await closedLoad(SPARE_DESCRIPTORS, 3, send);
      const sockets = Array.from({ length: CONNECTIONS }, () => openSocket(subject.target.url));
      await wait(1_000);
      const { responses: exhausted } = await closedLoad(2, 2, send);
      for (const socket of sockets) socket.destroy();
      subject.target.agent.destroy();
      await wait(500);
      const { responses: after } = await closedLoad(2, 2, send);
      const count = (responses: typeof after): string => `${served(responses).length} of ${responses.length} served`;
      world.figure('while descriptors run out', count(scarce));
      world.figure(`next to ${CONNECTIONS} connections`, count(exhausted));
      world.atLeast('served afterwards', servedShare(after), 1);
    });
  },
};

function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  // The server may refuse or close it.
  socket.on('error', () => undefined);
  return socket;
}
