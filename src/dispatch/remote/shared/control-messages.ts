// Messages from an API server to a worker on another machine, one JSON message per line of a control stream. An empty
// line only shows that the API server is alive.

import { z } from 'zod';
import type { RenderFile } from '../../../media/render-file.ts';
import { ASSET_FORMATS, type AssetFormat } from '../../../media/sniff.ts';
import type { AssetLimits, Recipe } from '../../../render/compose.ts';
import { recipeSchema } from './recipe-schema.ts';

/** An asset that the worker fetches from the API server. */
export interface RemoteAsset {
  readonly format: AssetFormat;
  readonly bytes: number;
}

export type RemoteFile = Omit<RenderFile, 'path'>;

export function remoteFile({ id, sha256, bytes }: RenderFile): RemoteFile {
  return { id, sha256, bytes };
}

export interface ProbeStep {
  readonly type: 'probe';
  readonly asset: RemoteAsset;
  readonly limits: AssetLimits;
}

export interface RenderStep {
  readonly type: 'render';
  /** Absent for a transparent overlay. */
  readonly asset?: RemoteAsset | undefined;
  readonly recipe: Recipe;
  /** An additional file that the recipe works on. */
  readonly attachment?: { readonly bytes: number };
  /** Fonts of the account that the recipe names. The worker fetches those that it doesn't have yet. */
  readonly files?: readonly RemoteFile[];
  /** True if the API server wants progress reports. */
  readonly wantsProgress?: true;
}

export type Step = ProbeStep | RenderStep;

export interface StepMessage {
  readonly type: 'step';
  readonly attempt: number;
  /** The token for requests about this step. */
  readonly token: string;
  readonly step: Step;
}

export type ControlMessage = StepMessage | { readonly type: 'end' };

/** More than a request can name. */
const MAX_FILES = 32;

const bytesSchema = z.int().min(0);
const assetSchema = z.object({ format: z.enum(ASSET_FORMATS), bytes: bytesSchema });
const fileSchema = z.object({
  id: z.string().max(64),
  sha256: z.string().regex(/^[\da-f]{64}$/u),
  bytes: bytesSchema,
});
const limitSchema = z.number().positive();

const stepSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('probe'),
    asset: assetSchema,
    limits: z.object({
      imagePixels: limitSchema,
      videoSeconds: limitSchema,
      videoSide: limitSchema,
      videoFps: limitSchema,
    }),
  }),
  z.object({
    type: z.literal('render'),
    asset: assetSchema.exactOptional(),
    recipe: recipeSchema,
    attachment: z.object({ bytes: bytesSchema }).exactOptional(),
    files: z.array(fileSchema).max(MAX_FILES).exactOptional(),
    wantsProgress: z.literal(true).exactOptional(),
  }),
]);

const controlMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('step'), attempt: z.int().min(1), token: z.string().max(200), step: stepSchema }),
  z.object({ type: z.literal('end') }),
]);

/** Returns `undefined` for anything that isn't a control message. */
export function parseControlMessage(line: string): ControlMessage | undefined {
  try {
    return controlMessageSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
