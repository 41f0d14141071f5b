// An accepted request as JSON: the value that the parser returned. It isn't checked again, so a rule that is tightened later
// doesn't make it invalid. The URL and the headers of `put_url` are secrets, which `PutTargets` keeps.

import { z } from 'zod';
import { parseForm, type RenderRequest } from '../../engine/caption/form.ts';
import type { SpokenTranscript } from '../../engine/caption/words/spoken.ts';

const VERSION = 1;

const requestSchema = z.object({
  version: z.literal(VERSION),
  request: z.custom<RenderRequest>((value) => typeof value === 'object' && value !== null),
  /**
   * Set if the request was already delivered and charged, so its render is free. With `asset_url`, for the file with
   * this hash.
   */
  replay: z.object({ sha256: z.string().optional() }).optional(),
  /** What is said in the video, once it is known. It takes the place of `captions=auto`. */
  transcript: z.custom<SpokenTranscript>((value) => typeof value === 'object').optional(),
});

/** Version 0.2.0 stored the fields as they were sent. */
const fieldsSchema = z.object({
  isJson: z.boolean(),
  fields: z.array(z.object({ name: z.string(), value: z.unknown() })),
});

export type StoredRequest = z.infer<typeof requestSchema>;

/** For a request that was parsed without faults. */
export function storeRequest({ delivery: { put: _put, ...delivery }, ...request }: RenderRequest): string {
  return writeRequest({ version: VERSION, request: { ...request, delivery } });
}

export function writeRequest(stored: StoredRequest): string {
  return JSON.stringify(stored);
}

const storedSchema = z.union([requestSchema, fieldsSchema]);

/** The URL that gets a webhook. It was checked when the request was accepted. */
export function webhookUrlIn(json: string): string | undefined {
  const stored = storedSchema.parse(JSON.parse(json));
  if ('version' in stored) return stored.request.delivery.webhookUrl;
  const value = stored.fields.find(({ name }) => name === 'webhook_url')?.value;
  return typeof value === 'string' && URL.canParse(value) ? new URL(value).href : undefined;
}

export function readRequest(json: string, hasAsset: boolean): StoredRequest {
  const stored = storedSchema.parse(JSON.parse(json));
  if ('version' in stored) return stored;
  const { overlays: _overlays, ...request } = parseForm({ ...stored, hasAsset, faults: [] });
  return { version: VERSION, request };
}

/** Returns the same request as a repetition of a delivered one. `facts` are those of `Remembered`. */
export function asReplay(request: string, facts: string): string {
  const { sha256 } = JSON.parse(facts) as { readonly sha256?: string };
  return writeRequest({ ...requestSchema.parse(JSON.parse(request)), replay: { sha256 } });
}

/** True if the captions are what is said in the video. Version 0.2.0 had no such requests. */
export function isFromSpeech(json: string): boolean {
  const stored = storedSchema.parse(JSON.parse(json));
  return 'version' in stored && stored.request.speech !== undefined;
}
