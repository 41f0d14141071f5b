// Messages from an API server to a worker on another machine, one JSON message per line of a control stream. An empty
// line only shows that the API server is alive.

import { z } from 'zod';
import type { RenderFile } from '../../../../engine/media/render-file.ts';
import { ASSET_FORMATS } from '../../../../engine/media/sniff.ts';
import { recipeSchema } from '../../../../engine/render/recipe-schema.ts';

/** More than a request can name. */
const MAX_FILES = 32;

const bytesSchema = z.int().min(0);
/** An asset that the worker fetches from the API server. */
const assetSchema = z.object({ format: z.enum(ASSET_FORMATS), bytes: bytesSchema });
const fileSchema = z.object({
  id: z.string().max(64),
  sha256: z.string().regex(/^[\da-f]{64}$/u),
  bytes: bytesSchema,
});
const limitSchema = z.number().positive();

const probeStepSchema = z.object({
  type: z.literal('probe'),
  asset: assetSchema,
  limits: z.object({
    imagePixels: limitSchema,
    videoSeconds: limitSchema,
    videoSide: limitSchema,
    videoFps: limitSchema,
  }),
});

const renderStepSchema = z.object({
  type: z.literal('render'),
  /** Absent for a transparent overlay. */
  asset: assetSchema.optional(),
  recipe: recipeSchema,
  /** An additional file that the recipe works on. */
  attachment: z.object({ bytes: bytesSchema }).exactOptional(),
  /** Fonts of the account that the recipe names. The worker fetches those that it doesn't have yet. */
  files: z.array(fileSchema).max(MAX_FILES).exactOptional(),
  /** True if the API server wants progress reports. */
  wantsProgress: z.literal(true).exactOptional(),
});

const stepMessageSchema = z.object({
  type: z.literal('step'),
  attempt: z.int().min(1),
  /** The token for requests about this step. */
  token: z.string().max(200),
  step: z.discriminatedUnion('type', [probeStepSchema, renderStepSchema]),
});

const controlMessageSchema = z.discriminatedUnion('type', [stepMessageSchema, z.object({ type: z.literal('end') })]);

export type RemoteAsset = z.infer<typeof assetSchema>;
export type RemoteFile = z.infer<typeof fileSchema>;
export type ProbeStep = z.infer<typeof probeStepSchema>;
export type RenderStep = z.infer<typeof renderStepSchema>;
export type Step = ProbeStep | RenderStep;
export type StepMessage = z.infer<typeof stepMessageSchema>;
export type ControlMessage = z.infer<typeof controlMessageSchema>;

export function remoteFile({ id, sha256, bytes }: RenderFile): RemoteFile {
  return { id, sha256, bytes };
}

/** Returns `undefined` for anything that isn't a control message. */
export function parseControlMessage(line: string): ControlMessage | undefined {
  try {
    return controlMessageSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
