// Serves one ticket: opens a control stream to the API server, fetches the asset once, runs the steps, and hands in
// their results.

import type { IncomingMessage } from 'node:http';
import { AppError } from '../../../../shared/errors.ts';
import type { ErrorCode } from '../../../../shared/error-table.ts';
import { type Asset, createAsset } from '../../../../engine/media/asset.ts';
import type { FileCache } from '../../../../engine/media/file-cache.ts';
import type { RenderFile } from '../../../../engine/media/render-file.ts';
import type { WorkArea, WorkDirectory } from '../../../../engine/media/work-area.ts';
import type { Lease, Renderer } from '../../renderer.ts';
import { isStepFailureCode, type StepFailure } from '../../reports.ts';
import type { ProbeStep, RemoteAsset, RemoteFile, RenderStep, StepMessage } from '../shared/control-messages.ts';
import { receiveHashed, sendHashed, TransferError } from '../shared/hashed-transfer.ts';
import {
  type AttemptPart,
  attemptPath,
  controlStreamPath,
  FACTS_HEADER,
  HASH_TRAILER,
  REDELIVERED_HEADER,
  type Ticket,
  WORKER_HEADER,
} from '../shared/wire.ts';
import {
  type ApiServerClient,
  type ApiServerRequest,
  ApiServerUnreachable,
  TicketRejected,
} from './api-server-client.ts';
import { ControlStreamReader } from './control-stream.ts';
import { ProgressReports } from './progress-reports.ts';

export interface StepRunnerTools {
  /** The worker's name. */
  readonly worker: string;
  readonly renderer: Renderer;
  readonly workArea: WorkArea;
  /** Files that renders have in common. */
  readonly files: FileCache;
  readonly client: ApiServerClient;
  /** Called when the renderer is free again and only the result has to be handed in. */
  readonly onRendered: () => void;
  readonly onRejected: (status: number) => void;
  /** Called when this worker can't do the work and another one should. */
  readonly onGivenBack: (reason: unknown) => void;
}

/** The fate of a ticket: it is used up, or another worker should have it. */
export type TicketVerdict = 'used' | 'again';

/** Codes of failures of this machine, not of the asset. */
const RETRYABLE_CODES: ReadonlySet<ErrorCode> = new Set([
  'renderer_unavailable',
  'storage_unavailable',
  'overloaded',
  'shutting_down',
]);

export async function serveTicket(
  ticket: Ticket,
  isRedelivered: boolean,
  directoryName: string,
  tools: StepRunnerTools,
): Promise<TicketVerdict> {
  // The directory is created during the request, because nearly every ticket is valid.
  const preparing = tools.workArea.directory(directoryName);
  // Handled below, where the directory is needed.
  preparing.catch(() => undefined);
  try {
    const stream = new ControlStreamReader(await claimTicket(ticket, isRedelivered, tools));
    try {
      const runner = new StepRunner(ticket, stream, await preparing, tools);
      try {
        for (let next = await stream.next(); next !== undefined; next = await stream.next()) await runner.run(next);
      } finally {
        runner.close();
      }
      return verdictOf(stream.signal.reason, tools);
    } finally {
      stream.close();
    }
  } catch (error) {
    return verdictOf(error, tools);
  } finally {
    await preparing.then(
      (directory) => directory.remove(),
      () => undefined,
    );
  }
}

/** The response to this request stays open: it is the control stream. */
async function claimTicket(
  ticket: Ticket,
  isRedelivered: boolean,
  { client, worker }: StepRunnerTools,
): Promise<IncomingMessage> {
  return await client.request(ticket.apiServer, {
    method: 'POST',
    path: controlStreamPath(ticket),
    token: ticket.token,
    headers: { [WORKER_HEADER]: worker, ...(isRedelivered && { [REDELIVERED_HEADER]: '1' }) },
    signal: new AbortController().signal,
  });
}

function verdictOf(error: unknown, { onRejected, onGivenBack }: StepRunnerTools): TicketVerdict {
  if (error instanceof TicketRejected) {
    if (error.status !== 410) onRejected(error.status);
    return 'used';
  }
  if (error instanceof ApiServerUnreachable || error instanceof AppError) {
    onGivenBack(error);
    return 'again';
  }
  throw error;
}

/** The responses that carry a file. */
const DOWNLOADS: ReadonlySet<AttemptPart> = new Set(['asset', 'attachment', 'files']);

type Attempt = Pick<StepMessage, 'attempt' | 'token'>;

class StepRunner {
  readonly #ticket: Ticket;
  readonly #stream: ControlStreamReader;
  readonly #directory: WorkDirectory;
  readonly #tools: StepRunnerTools;
  readonly #lease: Lease;
  #asset: Asset | undefined;

  constructor(ticket: Ticket, stream: ControlStreamReader, directory: WorkDirectory, tools: StepRunnerTools) {
    this.#ticket = ticket;
    this.#stream = stream;
    this.#directory = directory;
    this.#tools = tools;
    const { renderId } = ticket;
    this.#lease = tools.renderer.open({
      // The API server has already decided the order, and watches the deadline.
      account: '',
      class: 'interactive',
      budgetMs: { image: Number.POSITIVE_INFINITY, video: Number.POSITIVE_INFINITY },
      signal: stream.signal,
      ...(renderId !== undefined && { renderId }),
    });
  }

  async run({ attempt, token, step }: StepMessage): Promise<void> {
    try {
      if (step.type === 'probe') await this.#probe(step, { attempt, token });
      else await this.#render(step, { attempt, token });
    } catch (error) {
      this.#stream.signal.throwIfAborted();
      if (error instanceof TicketRejected || error instanceof ApiServerUnreachable) throw error;
      await this.#post({ attempt, token }, 'failure', describe(error));
    }
  }

  async #probe({ asset, limits }: ProbeStep, attempt: Attempt): Promise<void> {
    const fetched = await this.#fetch(asset, attempt);
    const probe = await this.#lease.probe(fetched, limits);
    await this.#post(attempt, 'probe', probe);
  }

  async #render(step: RenderStep, attempt: Attempt): Promise<void> {
    const { asset: remote, recipe, attachment: extra } = step;
    const asset = remote && (await this.#fetch(remote, attempt));
    const attachment = extra && { attachment: await this.#receive('attachment', extra.bytes, attempt) };
    const output = this.#directory.file('output');
    const progress = new ProgressReports(async (fraction) => await this.#post(attempt, 'progress', { fraction }));
    const onProgress = (fraction: number): void => progress.report(fraction);
    const facts = await this.#withFiles(step.files ?? [], attempt, async (files) => {
      const job = { recipe, asset, ...attachment, files, output };
      return await this.#lease.render(job, step.wantsProgress && onProgress);
    });
    await progress.end();
    // Another step may follow a layout immediately, so the slot stays taken.
    if (recipe.kind !== 'layout') {
      this.#lease.leave();
      this.#tools.onRendered();
    }
    await this.#request(attempt, 'output', {
      method: 'PUT',
      headers: { [FACTS_HEADER]: Buffer.from(JSON.stringify(facts)).toString('base64url'), trailer: HASH_TRAILER },
      send: (request) => sendHashed(output, request, this.#stream.signal),
    });
  }

  close(): void {
    this.#lease.close();
  }

  /** Fetches the asset once per ticket. The render uses the file that the probe has fetched. */
  async #fetch({ format, bytes }: RemoteAsset, attempt: Attempt): Promise<Asset> {
    this.#asset ??= createAsset({ path: await this.#receive('asset', bytes, attempt), format, bytes });
    return this.#asset;
  }

  /** Holds the files of a render while it runs. Most of them are here from renders before. */
  async #withFiles<Result>(
    [file, ...others]: readonly RemoteFile[],
    attempt: Attempt,
    use: (files: readonly RenderFile[]) => Promise<Result>,
  ): Promise<Result> {
    if (file === undefined) return await use([]);
    const fetch = async (path: string): Promise<void> => {
      const response = await this.#request(attempt, 'files', { method: 'GET', sha256: file.sha256 });
      await receiveHashed(response, path, file.bytes, this.#stream.signal);
    };
    return await this.#tools.files.with(
      file,
      fetch,
      async (path) => await this.#withFiles(others, attempt, async (rest) => await use([{ ...file, path }, ...rest])),
    );
  }

  async #receive(part: 'asset' | 'attachment', bytes: number, attempt: Attempt): Promise<string> {
    const path = this.#directory.file(part);
    const response = await this.#request(attempt, part, { method: 'GET' });
    await receiveHashed(response, path, bytes, this.#stream.signal);
    return path;
  }

  async #post(attempt: Attempt, part: 'probe' | 'progress' | 'failure', body: object): Promise<void> {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    await this.#request(attempt, part, { method: 'POST', headers, send: async (request) => void request.end(text) });
  }

  async #request(
    { attempt, token }: Attempt,
    part: AttemptPart,
    { sha256, ...rest }: Pick<ApiServerRequest, 'method' | 'headers' | 'send'> & { readonly sha256?: string },
  ): Promise<IncomingMessage> {
    const path = attemptPath(this.#ticket.session, attempt, part, sha256);
    const { signal } = this.#stream;
    const response = await this.#tools.client.request(this.#ticket.apiServer, { ...rest, path, token, signal });
    if (!DOWNLOADS.has(part)) response.resume();
    return response;
  }
}

function describe(error: unknown): StepFailure {
  if (error instanceof AppError && isStepFailureCode(error.code)) {
    const { code, message, limit } = error;
    return { code, message, isRetryable: RETRYABLE_CODES.has(code), ...(limit && { limit }) };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  // A corrupted transfer or a full disk has nothing to do with the asset.
  const isOurs = error instanceof TransferError || (error instanceof Error && 'code' in error);
  return isOurs ? { code: 'renderer_unavailable', message, isRetryable: true } : { message, isRetryable: false };
}
