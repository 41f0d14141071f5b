// Asynchronous renders and webhook events, as the API sends them.

import { type Problem, StorybarRenderError } from './errors.ts';

export interface RenderOutput {
  /** Needs no API key and works until `expires_at`. */
  readonly url: string;
  readonly content_type: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  /** Seconds; only of videos. */
  readonly duration?: number | null;
}

export interface Render {
  readonly id: string;
  readonly status: 'queued' | 'rendering' | 'succeeded' | 'failed' | 'canceled';
  /** From 0 to 1. */
  readonly progress: number;
  readonly source_type?: 'image' | 'video' | null;
  readonly credits?: number | null;
  readonly test?: boolean;
  readonly warnings?: readonly string[];
  readonly missing_glyphs?: number | null;
  readonly source_pixels?: string | null;
  readonly batch_id?: string | null;
  readonly created_at: string;
  readonly started_at?: string | null;
  readonly finished_at?: string | null;
  readonly expires_at?: string | null;
  readonly output?: RenderOutput | null;
  readonly error?: Partial<Problem> | null;
}

export type SucceededRender = Render & { readonly status: 'succeeded'; readonly output: RenderOutput };

/** A page of renders, newest first. */
export interface RenderList {
  readonly renders: readonly Render[];
  /** The `cursor` of the next page; null on the last one. */
  readonly next_cursor: string | null;
}

export interface Batch {
  readonly id: string;
  /** `completed` when all its renders have ended, however they ended. */
  readonly status: 'running' | 'completed';
  readonly queued: number;
  readonly rendering: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly canceled: number;
  readonly credits: number;
  /** In the order of the requests. */
  readonly renders: readonly Render[];
}

export type WebhookEvent =
  | {
      readonly type: 'render.succeeded' | 'render.failed' | 'render.canceled';
      readonly timestamp: string;
      readonly data: Render;
    }
  | {
      readonly type: 'batch.completed';
      readonly timestamp: string;
      readonly data: Readonly<Record<string, unknown>> & { readonly id: string };
    }
  | {
      /** From `webhookEndpoints.test`. */
      readonly type: 'webhook.test';
      readonly timestamp: string;
      readonly data: { readonly endpoint_id: string; readonly text: string; readonly id?: undefined };
    };

export function isFinished({ status }: Render): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'canceled';
}

/** Returns a finished render with its output, or throws what went wrong. */
export function requireSuccess(render: Render): SucceededRender {
  if (render.status === 'succeeded' && render.output) return { ...render, status: 'succeeded', output: render.output };
  const problem = render.error ?? { detail: `The render ${render.id} has the status ${render.status}.` };
  // A canceled render has no error of its own, so its status is the code.
  throw new StorybarRenderError(problem.status ?? 0, {
    code: render.status as Problem['code'],
    ...problem,
    instance: render.id,
  });
}
