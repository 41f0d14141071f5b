// Asynchronous renders and webhook events, as the API sends them. The types come from the OpenAPI document.

import { type Problem, StorybarRenderError } from './errors.ts';
import type { components } from './schema.generated.ts';

type Schemas = components['schemas'];

export type RenderOutput = Readonly<Schemas['RenderOutput']>;

type AnyRender = Readonly<Schemas['Render']>;
type With<Status extends AnyRender['status'], Output, Failure> = Omit<AnyRender, 'status' | 'output' | 'error'> & {
  readonly status: Status;
  readonly output: Output;
  readonly error: Failure;
};

export type SucceededRender = With<'succeeded', RenderOutput, null>;
/** Its `status` says which of `output` and `error` it has. */
export type Render =
  | With<'queued' | 'rendering', null, null>
  | SucceededRender
  | With<'failed', null, Problem>
  | With<'canceled', null, null>;

/** A page of renders, newest first. */
export interface RenderList {
  readonly renders: readonly Render[];
  /** The `cursor` of the next page; null on the last one. */
  readonly next_cursor: string | null;
}

/**
 * A batch with its renders in the order of the requests. It is `completed` when all of them have ended, however they
 * ended.
 */
export type Batch = Omit<Readonly<Schemas['Batch']>, 'renders'> & { readonly renders: readonly Render[] };

interface Event<Type extends string, Data> {
  readonly type: Type;
  readonly timestamp: string;
  readonly data: Data;
}

export type WebhookEvent =
  | Event<'render.succeeded', SucceededRender>
  | Event<'render.failed' | 'render.canceled', Exclude<Render, SucceededRender>>
  | Event<'batch.completed', Batch>
  /** Sent by `webhookEndpoints.test`. */
  | Event<'webhook.test', { readonly endpoint_id: string; readonly text: string }>;

export function isFinished({ status }: Render): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'canceled';
}

/** Returns a finished render with its output, or throws its error. */
export function requireSuccess(render: Render): SucceededRender {
  if (render.status === 'succeeded') return render;
  const problem: Partial<Problem> = render.error ?? {
    detail: `The render ${render.id} has the status ${render.status}.`,
  };
  // A canceled render has no error of its own, so its status is the code.
  throw new StorybarRenderError(problem.status ?? 0, {
    code: render.status as Problem['code'],
    ...problem,
    instance: render.id,
  });
}
