// The front's entry point for workers: a listener of its own, on the inner network. Every call carries a token for exactly what
// it asks; no path on disk ever comes from outside.

import { rename, unlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rethrowAsStorageError } from '../../../media/work-area.ts';
import { receiveHashed, receiveJson, sendHashed, TransferError } from '../shared/hashed-transfer.ts';
import { checkFacts, checkFailure, checkProbe, toError } from './reported.ts';
import type { ControlStream, RenderSession } from './session.ts';
import type { Tokens } from '../shared/tokens.ts';
import {
  type AttemptPart,
  FACTS_HEADER,
  HASH_TRAILER,
  type ControlMessage,
  REDELIVERED_HEADER,
  WORKER_HEADER,
} from '../shared/wire.ts';

export interface ListenerOptions {
  readonly tokens: Tokens;
  readonly find: (session: string) => RenderSession | undefined;
  /** Where the finished file of a session's render goes, and how large it may be. */
  readonly outputOf: (session: RenderSession) => { readonly file: string; readonly maxBytes: number } | undefined;
  readonly onError: (error: unknown) => void;
}

const BEAT_MS = 1_000;
const SILENCE_MS = 30_000;
const MAX_REPORT_BYTES = 256 * 1024;
const PATH =
  /^\/sessions\/(?<session>[\da-f-]{36})\/(?:tickets\/(?<generation>\d{1,9})|attempts\/(?<attempt>\d{1,9})\/(?<part>asset|segments|probe|output|failure))$/u;
const METHODS: Readonly<Record<AttemptPart, string>> = {
  asset: 'GET',
  segments: 'GET',
  probe: 'POST',
  output: 'PUT',
  failure: 'POST',
};

/** Too late: the answer is "gone" to whoever asks about a session that is over. */
const GONE = 410;
/** Too late: somebody else is at it or was faster. */
const CONFLICT = 409;

export class InternalListener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #beating = new Set<ServerResponse>();
  readonly #beat: NodeJS.Timeout;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        if (!(error instanceof TransferError) && !isDisconnect(error)) options.onError(error);
        if (response.headersSent) response.destroy();
        else refuse(request, response, error instanceof TransferError ? 400 : 500);
      });
    });
    // A conversation is never silent for longer than a beat; any other call that is has lost its worker.
    this.#server.timeout = SILENCE_MS;
    this.#beat = setInterval(() => {
      for (const response of this.#beating) response.write('\n');
    }, BEAT_MS);
    this.#beat.unref();
  }

  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    clearInterval(this.#beat);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { session: id = '', generation, attempt, part } = PATH.exec(request.url ?? '')?.groups ?? {};
    const isTicket = generation !== undefined;
    const number = Number(generation ?? attempt);
    const token = /^Bearer (?<token>\S{1,200})$/u.exec(request.headers.authorization ?? '')?.groups?.['token'] ?? '';
    if (!this.#options.tokens.isValid(token, { purpose: isTicket ? 'ticket' : 'attempt', session: id, number })) {
      return refuse(request, response, 401);
    }
    const session = this.#options.find(id);
    if (session === undefined || session.isOver) return refuse(request, response, GONE);
    const method = isTicket ? 'POST' : METHODS[part as AttemptPart];
    if (request.method !== method) return refuse(request, response, 405);
    if (isTicket) return converse(request, response, session, number, this.#beating);
    await this.#attempt(request, response, session, number, part as AttemptPart);
  }

  async #attempt(
    request: IncomingMessage,
    response: ServerResponse,
    session: RenderSession,
    attempt: number,
    part: AttemptPart,
  ): Promise<void> {
    const errand = session.stepOf(attempt);
    if (errand === undefined) return refuse(request, response, CONFLICT);
    switch (part) {
      case 'asset':
        return await sendFiles(response, session.asset?.path);
      case 'segments':
        return await sendFiles(response, errand.segments);
      case 'failure': {
        const failure = checkFailure(await receiveJson(request, MAX_REPORT_BYTES));
        if (failure.again) session.lose(attempt, failure.message, failure);
        else if (session.stepOf(attempt) === errand) session.fail(toError(failure));
        return confirm(response);
      }
      case 'probe': {
        if (errand.step.type !== 'probe') return refuse(request, response, CONFLICT);
        const probe = checkProbe(await receiveJson(request, MAX_REPORT_BYTES), session.kind);
        if (session.stepOf(attempt) !== errand || !session.succeed(attempt, probe)) return answer(response, CONFLICT);
        return confirm(response);
      }
      case 'output':
        if (errand.step.type !== 'render') return refuse(request, response, CONFLICT);
        return await this.#takeOutput(request, response, session, attempt);
    }
  }

  /** Received beside the place it is wanted, and put there only if it is the first that is whole. */
  async #takeOutput(
    request: IncomingMessage,
    response: ServerResponse,
    session: RenderSession,
    attempt: number,
  ): Promise<void> {
    const output = this.#options.outputOf(session);
    if (output === undefined) return refuse(request, response, CONFLICT);
    const facts = checkFacts(decodeFacts(request.headers[FACTS_HEADER]));
    const file = `${output.file}.${attempt}`;
    try {
      await receiveHashed(request, file, output.maxBytes);
      if (session.stepOf(attempt) === undefined) {
        await unlink(file).catch(rethrowUnlessMissing);
        return answer(response, CONFLICT);
      }
      // Decided before the file moves: nobody who comes second can touch what the first has put there.
      const placed = rename(file, output.file).catch(rethrowAsStorageError);
      session.succeed(
        attempt,
        placed.then(() => facts),
      );
      await placed;
      confirm(response);
    } catch (error) {
      await unlink(file).catch(rethrowUnlessMissing);
      if (error instanceof TransferError) session.lose(attempt, error.message);
      throw error;
    }
  }
}

function converse(
  request: IncomingMessage,
  response: ServerResponse,
  session: RenderSession,
  generation: number,
  beating: Set<ServerResponse>,
): void {
  let joined: { readonly attempt: number } | false = false;
  const worker = request.headers[WORKER_HEADER];
  const conversation: ControlStream = {
    worker: typeof worker === 'string' ? worker : undefined,
    send: (line) => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(`${JSON.stringify(line satisfies ControlMessage)}\n`);
    },
    close: () => {
      joined = false;
      response.end(`${JSON.stringify({ type: 'end' } satisfies ControlMessage)}\n`);
    },
  };
  request.resume();
  request.socket.setNoDelay(true);
  joined = session.join(generation, request.headers[REDELIVERED_HEADER] === '1', conversation);
  if (joined === false) return answer(response, CONFLICT);
  beating.add(response);
  response.once('close', () => {
    beating.delete(response);
    if (joined) session.lose(joined.attempt, 'the line to the worker broke');
  });
}

async function sendFiles(response: ServerResponse, files: string | readonly string[] | undefined): Promise<void> {
  if (files === undefined) return answer(response, 404);
  response.writeHead(200, { 'content-type': 'application/octet-stream', trailer: HASH_TRAILER });
  await sendHashed(files, response);
}

function decodeFacts(header: string | string[] | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(String(header ?? ''), 'base64url').toString('utf8')) as unknown;
  } catch (error) {
    throw new TransferError('no facts', error);
  }
}

function confirm(response: ServerResponse): void {
  answer(response, 204);
}

/** Before the body was read: whoever is still sending need not go on. */
function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  if (!request.complete) response.setHeader('connection', 'close');
  answer(response, status);
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** The directory of a render that is over is gone, and everything in it. */
function rethrowUnlessMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}

function isDisconnect(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE' || code === 'ABORT_ERR';
}
