// The steps between the parsed request and the finished file, the same for requests that wait and for asynchronous ones:
//
//   probe -> compose -> reserve -> render

import type { PlanLimits } from '../../account/plans.ts';
import { priceOf } from '../../account/pricing.ts';
import type { Renderer, RenderJob, Requester } from '../../dispatch/renderer.ts';
import type { LazyDirectory } from '../../media/work-area.ts';
import { type BaseLayer, composeRecipe, outputFormatOf, type RenderRecipe } from '../../render/compose.ts';
import type { RenderFacts } from '../../render/render.ts';
import { mediaWarnings, uniqueWarnings } from '../../render/warnings.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Caller } from '../access/caller.ts';
import type { Admission } from '../limits/admission.ts';
import type { RequestStep } from '../transport/request-record.ts';
import type { ParsedRequest } from './parse.ts';
import type { CreditReservations, Reservation } from './reserve.ts';
import { renderHeaders, type RenderHeaders, type RenderReport } from './send.ts';
import { assertNoWarnings, layoutOf } from './strict.ts';

export interface StepDependencies {
  readonly admission: Admission;
  readonly reservations: CreditReservations;
  readonly renderer: Renderer;
  readonly logger: Logger;
}

/** One render, as its steps see it. */
export interface RenderRun {
  readonly renderId: string;
  readonly caller: Caller;
  readonly limits: PlanLimits;
  readonly directory: LazyDirectory;
  readonly signal: AbortSignal;
  readonly requester: Requester;
  /** It was paid for before, under the same idempotency key. */
  readonly isReplay: boolean;
  /** Of an asynchronous render; see `NewHold`. */
  readonly attempt?: number;
  readonly onStep: (step: RequestStep) => void;
}

export interface PreparedRender {
  readonly base: BaseLayer;
  readonly recipe: RenderRecipe;
  readonly asset: RenderJob['asset'];
  readonly reservation: Reservation;
}

/** The finished file, and what the steps know about it. */
export interface FinishedRender {
  readonly output: string;
  readonly facts: RenderFacts;
}

/** A damaged asset is refused before credits are checked. */
export async function prepareRender(
  dependencies: StepDependencies,
  run: RenderRun,
  parsed: ParsedRequest,
): Promise<PreparedRender> {
  const { renderer } = dependencies;
  const { limits, signal, requester, onStep } = run;
  const { asset } = parsed;
  if (asset) onStep('queue');
  const base: BaseLayer = asset
    ? await countingFailures(dependencies, run, renderer.probe(asset, limits, signal, requester))
    : parsed.canvas;
  const { recipe, reservation } = await composeAndReserve(dependencies, run, { parsed, base }).catch(
    (error: unknown) => {
      if (asset) renderer.refund(asset, requester);
      throw error;
    },
  );
  return { base, recipe, asset, reservation };
}

async function composeAndReserve(
  { renderer, reservations }: StepDependencies,
  { renderId, caller, limits, directory, signal, requester, isReplay, attempt, onStep }: RenderRun,
  { parsed, base }: { readonly parsed: ParsedRequest; readonly base: BaseLayer },
): Promise<{ recipe: RenderRecipe; reservation: Reservation }> {
  const { asset, overlays, output } = parsed;
  const recipe = composeRecipe(base, overlays, limits, { output, watermark: caller.mode === 'test' });
  if (parsed.strict) {
    const { lastFrame } = recipe;
    assertNoWarnings(await layoutOf(base, overlays, { renderer, directory, signal, requester, lastFrame }));
  }
  // An asset has waited for its worker before the probe. Without one, a full queue is noticed here, before the ledger.
  if (!asset) renderer.assertRoom(caller.accountId, 'image');
  onStep('reserve');
  const reservation = await reservations.reserve(caller, {
    renderId,
    kind: asset?.kind ?? 'overlay',
    credits: priceOf(base, { mode: caller.mode, isReplay }),
    isReplay,
    ...(attempt !== undefined && { attempt }),
  });
  return { recipe, reservation };
}

/** Waits for a task of the renderer. A file that can't be decoded counts against the account's allowance. */
async function countingFailures<Result>(
  { admission }: Pick<StepDependencies, 'admission'>,
  { caller }: Pick<RenderRun, 'caller'>,
  task: Promise<Result>,
): Promise<Result> {
  try {
    return await task;
  } catch (error) {
    await admission.countFailure(caller, error);
    throw error;
  }
}

export async function executeRender(
  dependencies: StepDependencies,
  run: RenderRun,
  { recipe, asset }: Pick<PreparedRender, 'recipe' | 'asset'>,
): Promise<FinishedRender> {
  const { renderer, logger } = dependencies;
  const { renderId, caller, directory, signal, requester, onStep } = run;
  await directory.make();
  const output = directory.file('output');
  onStep(asset ? 'render' : 'queue');
  const job = { recipe, asset, output };
  const rendered = await countingFailures(dependencies, run, renderer.render(job, signal, requester));
  signal.throwIfAborted();
  const warnings = uniqueWarnings([...rendered.warnings, ...mediaWarnings(recipe)]);
  if (warnings.length > 0) {
    const entry = { renderId, accountId: caller.accountId, warnings };
    logger.info(entry, 'render completed with warnings');
  }
  return { output, facts: { ...rendered, warnings } };
}

/** The headers that describe the finished file, whether they are sent with it or stored. */
export function describeRender(
  { asset, recipe }: Pick<PreparedRender, 'asset' | 'recipe'>,
  { facts }: FinishedRender,
  timing: Pick<RenderReport, 'renderId' | 'receiveMs' | 'renderMs'>,
): RenderHeaders {
  return renderHeaders({ kind: asset?.kind ?? 'image', format: outputFormatOf(recipe), facts, ...timing });
}
