// The API server's HTTP listener for workers, on the internal network. Every request carries a token for exactly its
// purpose, and no path on disk ever comes from outside.

import { rename, unlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { rethrowAsStorageError } from '../../../../engine/media/work-area.ts';
import { InvalidReport, parseFacts, parseProbe, parseProgress, parseStepFailure, toError } from '../../reports.ts';
import type { RenderStep } from '../shared/control-messages.ts';
import { receiveHashed, receiveJson, sendHashed, TransferError } from '../shared/hashed-transfer.ts';
import type { Tokens } from '../shared/tokens.ts';
import { ATTEMPT_PARTS, type AttemptPart, FACTS_HEADER, HASH_TRAILER } from '../shared/wire.ts';
import { openControlStream } from './control-stream.ts';
import type { RenderSession, StepRequest } from './session.ts';
import { hasCode } from '../../../../shared/error-facts.ts';

export interface ListenerOptions {
  readonly tokens: Tokens;
  readonly findSession: (id: string) => RenderSession | undefined;
  /** Returns the destination of the output of a session's render, and its maximum size. */
  readonly outputOf: (session: RenderSession) => { readonly file: string; readonly maxBytes: number } | undefined;
  readonly onError: (error: unknown) => void;
}

const HEARTBEAT_MS = 1_000;
const IDLE_TIMEOUT_MS = 30_000;
const MAX_REPORT_BYTES = 256 * 1024;
/** The facts of a render are sent as a header, and the layout of a transcript has thousands of words. */
const MAX_HEADER_BYTES = 4 * 1024 * 1024;
const PATH =
  /^\/sessions\/(?<session>[\da-f-]{36})\/(?:tickets\/(?<generation>\d{1,9})|attempts\/(?<attempt>\d{1,9})\/(?<part>[a-z]+)(?:\/(?<sha256>[\da-f]{64}))?)$/u;
const METHODS: Readonly<Record<AttemptPart, string>> = {
  asset: 'GET',
  attachment: 'GET',
  files: 'GET',
  probe: 'POST',
  progress: 'POST',
  output: 'PUT',
  failure: 'POST',
};

/** The session is closed. */
const GONE = 410;
/** The attempt or ticket has been superseded. */
const CONFLICT = 409;

type Route =
  | { readonly type: 'ticket'; readonly session: string; readonly number: number }
  | ({ readonly type: 'attempt'; readonly session: string; readonly number: number } & AttemptFile);

/** `sha256` names one of the files. */
interface AttemptFile {
  readonly part: AttemptPart;
  readonly sha256: string | undefined;
}

interface AttemptRequest extends AttemptFile {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly session: RenderSession;
  readonly attempt: number;
}

export class InternalListener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #controlStreams = new Set<ServerResponse>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const serverOptions = { keepAliveTimeout: 65_000, requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES };
    this.#server = createServer(serverOptions, (request, response) => {
      this.#handle(request, response).catch((error: unknown) => {
        const isBadRequest = error instanceof TransferError || error instanceof InvalidReport;
        if (!isBadRequest && !isDisconnect(error)) options.onError(error);
        if (response.headersSent) response.destroy();
        else reject(request, response, isBadRequest ? 400 : 500);
      });
    });
    // Control streams carry a heartbeat. Any other connection that is idle for this long has lost its worker.
    this.#server.timeout = IDLE_TIMEOUT_MS;
    this.#heartbeat = setInterval(() => {
      for (const response of this.#controlStreams) if (!response.writableEnded) response.write('\n');
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, fail) => {
      this.#server.once('error', fail);
      this.#server.listen(port, host, () => {
        this.#server.off('error', fail);
        resolve();
      });
    });
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the internal listener has no port');
    return address.port;
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = routeOf(request.url ?? '');
    if (route === undefined || !this.#isAuthorized(request, route)) return reject(request, response, 401);
    const session = this.#options.findSession(route.session);
    if (session === undefined || session.isClosed) return reject(request, response, GONE);
    const method = route.type === 'ticket' ? 'POST' : METHODS[route.part];
    if (request.method !== method) return reject(request, response, 405);
    if (route.type === 'ticket') return this.#claimTicket(request, response, session, route.number);
    const { number: attempt, part, sha256 } = route;
    await this.#handleAttempt({ request, response, session, attempt, part, sha256 });
  }

  #isAuthorized(request: IncomingMessage, { type, session, number }: Route): boolean {
    const token = /^Bearer (?<token>\S{1,200})$/u.exec(request.headers.authorization ?? '')?.groups?.['token'] ?? '';
    return this.#options.tokens.isValid(token, { purpose: type, session, number });
  }

  #claimTicket(request: IncomingMessage, response: ServerResponse, session: RenderSession, generation: number): void {
    if (!openControlStream(request, response, session, generation)) return respond(response, CONFLICT);
    this.#controlStreams.add(response);
    response.once('close', () => this.#controlStreams.delete(response));
  }

  /** A worker that sends invalid data loses its attempt. */
  async #handleAttempt(attempt: AttemptRequest): Promise<void> {
    try {
      await this.#handlePart(attempt);
    } catch (error) {
      if (error instanceof InvalidReport || error instanceof TransferError) {
        attempt.session.loseAttempt(attempt.attempt, error.message);
      }
      throw error;
    }
  }

  async #handlePart(attempt: AttemptRequest): Promise<void> {
    const { request, response, session, part } = attempt;
    const pending = session.stepOf(attempt.attempt);
    if (pending === undefined) return reject(request, response, CONFLICT);
    const { step } = pending;
    switch (part) {
      case 'asset':
        return await sendFile(response, session.asset?.path);
      case 'attachment':
        return await sendFile(response, pending.attachment);
      case 'files':
        return await sendFile(response, pending.files?.find((file) => file.sha256 === attempt.sha256)?.path);
      case 'failure':
        return await receiveFailure(attempt, pending);
      case 'probe': {
        if (step.type !== 'probe') return reject(request, response, CONFLICT);
        const probe = parseProbe(await receiveJson(request, MAX_REPORT_BYTES), step.asset.format);
        const isNeeded = session.stepOf(attempt.attempt) === pending && session.completeProbe(attempt.attempt, probe);
        return respond(response, isNeeded ? 204 : CONFLICT);
      }
      case 'progress': {
        const fraction = parseProgress(await receiveJson(request, MAX_REPORT_BYTES));
        if (session.stepOf(attempt.attempt) === pending) pending.onProgress?.(fraction);
        return respond(response, 204);
      }
      case 'output':
        if (step.type !== 'render') return reject(request, response, CONFLICT);
        return await this.#receiveOutput(attempt, step);
    }
  }

  /** Receives the output under a temporary name, and renames it if it is the first complete one. */
  async #receiveOutput({ request, response, session, attempt }: AttemptRequest, { recipe }: RenderStep): Promise<void> {
    const output = this.#options.outputOf(session);
    if (output === undefined) return reject(request, response, CONFLICT);
    const facts = parseFacts(decodeFacts(request.headers[FACTS_HEADER]), recipe);
    const file = `${output.file}.${attempt}`;
    try {
      await receiveHashed(request, file, output.maxBytes);
      if (session.stepOf(attempt) === undefined) {
        await unlink(file).catch(rethrowUnlessMissing);
        return respond(response, CONFLICT);
      }
      // The step is completed before the file moves, so a second worker can't overwrite the output of the first.
      const placed = rename(file, output.file).catch(rethrowAsStorageError);
      session.completeRender(
        attempt,
        placed.then(() => facts),
      );
      await placed;
      respond(response, 204);
    } catch (error) {
      await unlink(file).catch(rethrowUnlessMissing);
      throw error;
    }
  }
}

function routeOf(url: string): Route | undefined {
  const { session, generation, attempt, part, sha256 } = PATH.exec(url)?.groups ?? {};
  if (session === undefined) return undefined;
  if (generation !== undefined) return { type: 'ticket', session, number: Number(generation) };
  const known = ATTEMPT_PARTS.find((name) => name === part);
  return known && { type: 'attempt', session, number: Number(attempt), part: known, sha256 };
}

async function receiveFailure(
  { request, response, session, attempt }: AttemptRequest,
  pending: StepRequest,
): Promise<void> {
  const failure = parseStepFailure(await receiveJson(request, MAX_REPORT_BYTES));
  if (failure.isRetryable) session.loseAttempt(attempt, failure.message, failure);
  else if (session.stepOf(attempt) === pending) session.fail(toError(failure));
  respond(response, 204);
}

async function sendFile(response: ServerResponse, file: string | undefined): Promise<void> {
  if (file === undefined) return respond(response, 404);
  response.writeHead(200, { 'content-type': 'application/octet-stream', trailer: HASH_TRAILER });
  await sendHashed(file, response);
}

function decodeFacts(header: string | string[] | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(String(header ?? ''), 'base64url').toString('utf8'));
  } catch {
    throw new InvalidReport('facts', "isn't JSON");
  }
}

/** Rejects a request whose body hasn't been read, and closes the connection, so the worker stops sending. */
function reject(request: IncomingMessage, response: ServerResponse, status: number): void {
  if (!request.complete) response.setHeader('connection', 'close');
  respond(response, status);
}

function respond(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** The directory of a finished render is gone, along with everything in it. */
function rethrowUnlessMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error;
}

function isDisconnect(error: unknown): boolean {
  return hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ABORT_ERR');
}
