// Clients that send headers or bodies byte by byte, or never read the response. They must not affect another client, and
// the server must close their connections.

import { connect, type Socket } from 'node:net';
import { until } from '../../../test/running-server.ts';
import { FORM_TYPE } from '../client.ts';
import { latency, openLoad, served, servedShare } from '../load.ts';
import { slowForm, smallForm } from '../payloads.ts';
import type { Subject } from '../subject.ts';
import type { Scenario } from '../world.ts';

const SLOW_HEADERS = 150;
const SLOW_UPLOADS = 100;
const SLOW_READERS = 4;
/** Requests per second of the client that isn't slow. */
const RATE = 3;
/** The timeouts of the server, plus time to apply them. */
const CLOSED_WITHIN_MS = 30_000;

export const slowClients: Scenario = {
  name: 'slow-clients',
  parallel: true,
  about: `${SLOW_HEADERS} slow headers, ${SLOW_UPLOADS} slow uploads and ${SLOW_READERS} clients that never read`,
  run: async (world) => {
    const [small, slow] = await Promise.all([smallForm(), slowForm()]);
    await world.withServer({ accounts: 2, settings: { STORYBAR_LOG_LEVEL: 'warn' } }, async (fixture) => {
      const { subject } = fixture;
      const [normalKey, slowKey] = [subject.account(0).key, subject.account(1).key];
      const head = headOf(slowKey, small.length);
      const slowHeaders = Array.from({ length: SLOW_HEADERS }, () => drip(subject, '', head));
      const slowUploads = Array.from({ length: SLOW_UPLOADS }, () => drip(subject, head, small.toString('latin1')));
      const readers = Array.from({ length: SLOW_READERS }, () => neverRead(subject, slowKey, slow));
      const send = async (due: number) => await fixture.request({ key: normalKey, body: small, due });
      const started = performance.now();
      const seconds = world.choose(12, 40);
      const { responses } = await openLoad({ rate: RATE, seconds, random: world.random, send });
      world.atLeast(`other client served (of ${responses.length})`, servedShare(responses), 0.99);
      world.figure('other client p99', latency(served(responses), 0.99));
      const remainingMs = Math.max(1, CLOSED_WITHIN_MS - (performance.now() - started));
      // On a timeout, the figures below report what is still connected.
      await until(() => openSockets([...slowHeaders, ...slowUploads]) === 0, remainingMs).catch(() => undefined);
      world.none('slow headers still connected', openSockets(slowHeaders));
      world.none('slow uploads still connected', openSockets(slowUploads));
      for (const reader of readers) reader.destroy();
    });
  },
};

function headOf(key: string, length: number): string {
  return `POST /v1/overlay HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: ${FORM_TYPE}\r\ncontent-length: ${length}\r\n\r\n`;
}

function openSockets(sockets: readonly Socket[]): number {
  return sockets.filter(({ destroyed }) => !destroyed).length;
}

function openSocket({ target }: Subject): Socket {
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port) });
  // The server is expected to close it.
  socket.on('error', () => undefined);
  return socket;
}

/** Sends the beginning immediately and the rest at one byte per second. */
function drip(subject: Subject, beginning: string, rest: string): Socket {
  const socket = openSocket(subject);
  socket.resume();
  socket.write(beginning, 'latin1');
  let at = 0;
  const timer = setInterval(() => {
    socket.write(rest.slice(at, at + 1), 'latin1');
    at += 1;
  }, 1_000);
  socket.once('close', () => clearInterval(timer));
  socket.once('end', () => socket.destroy());
  return socket;
}

function neverRead(subject: Subject, key: string, body: Buffer): Socket {
  const socket = openSocket(subject);
  socket.pause();
  socket.write(headOf(key, body.length));
  socket.write(body);
  return socket;
}
