// Crowds that take their time: headers byte by byte, bodies byte by byte, answers that nobody reads. Others must not notice,
// and the server must end what does not move.

import { connect, type Socket } from 'node:net';
import { until } from '../../../test/running-server.ts';
import { FORM_TYPE } from '../client.ts';
import { milliseconds, quantile } from '../figures.ts';
import { openLoad } from '../load.ts';
import { slowForm, smallForm } from '../payloads.ts';
import type { Subject } from '../subject.ts';
import type { Scenario } from '../world.ts';

const HEADERS_CROWD = 150;
const UPLOAD_CROWD = 100;
const READ_CROWD = 4;
const RATE = 3;
/** The server's own limits, and some time to act. */
const SILENT_MS = 30_000;

export const slowCrowds: Scenario = {
  name: 'slow-crowds',
  light: true,
  about: `${HEADERS_CROWD} slow headers, ${UPLOAD_CROWD} slow uploads, ${READ_CROWD} slow readers beside a caller`,
  run: async (world) => {
    const [small, slow] = await Promise.all([smallForm(), slowForm()]);
    await world.on({ accounts: 2, settings: { STORYBAR_LOG_LEVEL: 'warn' } }, async (stage) => {
      const { subject } = stage;
      const [fair, crowd] = [subject.holders[0]?.key ?? '', subject.holders[1]?.key ?? ''];
      const head = headOf(crowd, small.length);
      const drips = Array.from({ length: HEADERS_CROWD }, () => drip(subject, '', head));
      const uploads = Array.from({ length: UPLOAD_CROWD }, () => drip(subject, head, small.toString('latin1')));
      const readers = Array.from({ length: READ_CROWD }, () => neverRead(subject, crowd, slow));
      const send = async (due: number) => await stage.ask({ key: fair, body: small, due });
      const started = performance.now();
      const seconds = world.choose(12, 40);
      const { answers } = await openLoad({ rate: RATE, seconds, random: world.random, send });
      const served = answers.filter(({ status }) => status === 200);
      world.atLeast(`caller beside them served (of ${answers.length})`, served.length / answers.length, 0.99);
      world.figure(
        'caller p99',
        milliseconds(
          quantile(
            served.map(({ ms }) => ms),
            0.99,
          ),
        ),
      );
      const rest = (): Socket[] => [...drips, ...uploads].filter(({ destroyed }) => !destroyed);
      const left = Math.max(1, SILENT_MS - (performance.now() - started));
      // What is still there then is told below.
      await until(() => rest().length === 0, left).catch(() => undefined);
      world.none('slow headers still connected', drips.filter(({ destroyed }) => !destroyed).length);
      world.none('slow uploads still connected', uploads.filter(({ destroyed }) => !destroyed).length);
      for (const reader of readers) reader.destroy();
      // What was written to a reader that never read has not been delivered, and costs nothing.
      return {};
    });
  },
};

function headOf(key: string, length: number): string {
  return `POST /v1/overlay HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: ${FORM_TYPE}\r\ncontent-length: ${length}\r\n\r\n`;
}

function reach({ target }: Subject): Socket {
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port) });
  // The server ends it, sooner or later: that is what is waited for.
  socket.on('error', () => undefined);
  return socket;
}

/** Sends the beginning at once and the rest a byte every second. */
function drip(subject: Subject, beginning: string, rest: string): Socket {
  const socket = reach(subject);
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
  const socket = reach(subject);
  socket.pause();
  socket.write(headOf(key, body.length));
  socket.write(body);
  return socket;
}
