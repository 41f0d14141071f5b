// No file descriptors left: the server refuses, stays alive, and serves again once there are some.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { closedLoad } from '../load.ts';
import { smallForm } from '../payloads.ts';
import { descriptorsOf } from '../processes.ts';
import type { Scenario } from '../world.ts';

const PRLIMIT = '/usr/bin/prlimit';
const SPARE = 20;
const CROWD = 300;

export const descriptors: Scenario = {
  name: 'descriptors',
  light: true,
  about: `room for ${SPARE} more descriptors and a crowd of ${CROWD} connections`,
  run: async (world) => {
    if (!existsSync(PRLIMIT)) return world.skip('needs prlimit');
    const body = await smallForm();
    await world.on({ settings: { STORYBAR_LOG_LEVEL: 'warn' } }, async ({ subject, ask }) => {
      const send = async () => await ask({ key: subject.key, body });
      await send();
      const most = descriptorsOf(subject.pid) + SPARE;
      execFileSync(PRLIMIT, ['--pid', String(subject.pid), `--nofile=${most}:${most}`]);
      // Some callers beside each other, so that files are opened when there are no descriptors left.
      const { answers: tight } = await closedLoad(SPARE, 3, send);
      const sockets = Array.from({ length: CROWD }, () => reach(subject.target.url));
      await wait(1_000);
      const { answers: crowded } = await closedLoad(2, 2, send);
      for (const socket of sockets) socket.destroy();
      subject.target.agent.destroy();
      await wait(500);
      const { answers: after } = await closedLoad(2, 2, send);
      const count = (answers: typeof after): string =>
        `${answers.filter(({ status }) => status === 200).length} of ${answers.length} served`;
      world.figure('while descriptors run out', count(tight));
      world.figure('beside the crowd', count(crowded));
      world.atLeast('served after it', after.filter(({ status }) => status === 200).length / after.length, 1);
    });
  },
};

function reach(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  // Refused or cut: either is right here.
  socket.on('error', () => undefined);
  return socket;
}
