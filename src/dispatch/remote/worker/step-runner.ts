// What a worker does with one ticket: talk to its front, fetch the asset once, take the steps, hand in the results.

import type { IncomingMessage } from 'node:http';
import { AppError, type ErrorCode } from '../../../errors.ts';
import type { WorkArea, WorkDirectory } from '../../../media/work-area.ts';
import { type Asset, createAsset } from '../../../media/asset.ts';
import type { Renderer } from '../../renderer.ts';
import { WorkerControlStream } from '../shared/control-stream.ts';
import { type ApiServerClient, ApiServerUnreachable, TicketRejected } from './api-server-client.ts';
import { receiveHashed, sendHashed, TransferError } from '../shared/hashed-transfer.ts';
import {
  type OfferedAsset,
  type AttemptPart,
  attemptPath,
  controlStreamPath,
  FACTS_HEADER,
  HASH_TRAILER,
  type ControlMessage,
  REDELIVERED_HEADER,
  type RemoteFailure,
  type Step,
  type Ticket,
  WORKER_HEADER,
} from '../shared/wire.ts';

export interface StepRunnerTools {
  /** The worker's name. */
  readonly worker: string;
  readonly renderer: Renderer;
  readonly workArea: WorkArea;
  readonly client: ApiServerClient;
  /** The renderer is free again, only the result has to be handed in. */
  readonly onRendered: () => void;
  readonly onRefused: (status: number) => void;
}

/** What becomes of the ticket: it is used up, or somebody else should have it. */
export type TicketVerdict = 'used' | 'again';

/** Trouble of this machine, not of the asset. */
const OWN_TROUBLE: ReadonlySet<ErrorCode> = new Set([
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
  // Made while the front is called: both take a moment, and nearly every ticket is good.
  const preparing = tools.workArea.directory(directoryName);
  // Told below, where it is needed.
  preparing.catch(() => undefined);
  try {
    const line = new WorkerControlStream(await openLine(ticket, isRedelivered, tools));
    try {
      const attempt = new StepRunner(ticket, line, await preparing, tools);
      for (let next = await line.next(); next !== undefined; next = await line.next()) await attempt.take(next);
      return judge(line.signal.reason, tools);
    } finally {
      line.close();
    }
  } catch (error) {
    return judge(error, tools);
  } finally {
    await preparing.then(
      (directory) => directory.remove(),
      () => undefined,
    );
  }
}

/** The answer to this call stays open: it is the line. */
async function openLine(
  ticket: Ticket,
  isRedelivered: boolean,
  { client, worker }: StepRunnerTools,
): Promise<IncomingMessage> {
  return await client.call(ticket.front, {
    method: 'POST',
    path: controlStreamPath(ticket),
    token: ticket.token,
    headers: { [WORKER_HEADER]: worker, ...(isRedelivered && { [REDELIVERED_HEADER]: '1' }) },
    signal: new AbortController().signal,
  });
}

function judge(error: unknown, { onRefused }: StepRunnerTools): TicketVerdict {
  if (error instanceof TicketRejected) {
    if (error.status !== 410) onRefused(error.status);
    return 'used';
  }
  if (error instanceof ApiServerUnreachable || error instanceof AppError) return 'again';
  throw error;
}

class StepRunner {
  readonly #ticket: Ticket;
  readonly #line: WorkerControlStream;
  readonly #directory: WorkDirectory;
  readonly #tools: StepRunnerTools;
  #asset: Asset | undefined;

  constructor(ticket: Ticket, line: WorkerControlStream, directory: WorkDirectory, tools: StepRunnerTools) {
    this.#ticket = ticket;
    this.#line = line;
    this.#directory = directory;
    this.#tools = tools;
  }

  async take({ attempt, token, step }: Extract<ControlMessage, { type: 'step' }>): Promise<void> {
    const call = { attempt, token };
    try {
      if (step.type === 'probe') await this.#probe(step, call);
      else await this.#render(step, call);
    } catch (error) {
      this.#line.signal.throwIfAborted();
      if (error instanceof TicketRejected || error instanceof ApiServerUnreachable) throw error;
      await this.#post(call, 'failure', describe(error));
    }
  }

  async #probe({ asset, limits }: Extract<Step, { type: 'probe' }>, call: AttemptCall): Promise<void> {
    const { renderer } = this.#tools;
    await this.#post(call, 'probe', await renderer.probe(await this.#fetch(asset, call), limits, this.#line.signal));
  }

  async #render(step: Extract<Step, { type: 'render' }>, call: AttemptCall): Promise<void> {
    const { asset: offer, recipe } = step;
    const asset = offer && (await this.#fetch(offer, call));
    const segments = step.segments && { segments: await this.#receive('segments', step.segments.bytes, call) };
    const output = this.#directory.file('output');
    const facts = await this.#tools.renderer.render({ recipe, asset, ...segments, output }, this.#line.signal);
    // After a segment another one may follow at once, or the joining: until the front says otherwise, the slot is taken.
    const mayFollow = recipe.kind === 'video' && recipe.piece?.type === 'segment';
    if (!mayFollow) this.#tools.onRendered();
    await this.#call(call, 'output', {
      method: 'PUT',
      headers: { [FACTS_HEADER]: Buffer.from(JSON.stringify(facts)).toString('base64url'), trailer: HASH_TRAILER },
      send: (request) => sendHashed(output, request, this.#line.signal),
    });
  }

  /** Once per ticket: the render uses what the probe has fetched. */
  async #fetch({ format, bytes }: OfferedAsset, call: AttemptCall): Promise<Asset> {
    this.#asset ??= createAsset({ path: await this.#receive('asset', bytes, call), format, bytes });
    return this.#asset;
  }

  async #receive(part: 'asset' | 'segments', bytes: number, call: AttemptCall): Promise<string> {
    const path = this.#directory.file(part);
    const response = await this.#call(call, part, { method: 'GET' });
    await receiveHashed(response, path, bytes, this.#line.signal);
    return path;
  }

  async #post(call: AttemptCall, part: 'probe' | 'failure', body: object): Promise<void> {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const response = await this.#call(call, part, {
      method: 'POST',
      headers,
      send: async (request) => void request.end(text),
    });
    response.resume();
  }

  async #call(
    { attempt, token }: AttemptCall,
    part: AttemptPart,
    rest: Pick<Parameters<ApiServerClient['call']>[1], 'method' | 'headers' | 'send'>,
  ): Promise<IncomingMessage> {
    const path = attemptPath(this.#ticket.session, attempt, part);
    const response = await this.#tools.client.call(this.#ticket.front, {
      ...rest,
      path,
      token,
      signal: this.#line.signal,
    });
    if (part !== 'asset' && part !== 'segments') response.resume();
    return response;
  }
}

interface AttemptCall {
  readonly attempt: number;
  readonly token: string;
}

function describe(error: unknown): RemoteFailure {
  if (error instanceof AppError) {
    const { code, message, limit } = error;
    return { code, message, again: OWN_TROUBLE.has(code), ...(limit && { limit }) };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  // A body that arrived damaged, a disk that is full: nothing the asset could help.
  const isOurs = error instanceof TransferError || (error instanceof Error && 'code' in error);
  return { code: isOurs ? 'renderer_unavailable' : undefined, message, again: isOurs };
}
