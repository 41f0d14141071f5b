// The fields of an accepted request as JSON. They are parsed again when the render starts, so a field that is added later
// needs no change here.

import { z } from 'zod';
import { keptCaptions } from '../caption/captions-field.ts';
import { publicPartOf } from '../caption/put-fields.ts';
import type { SpokenTranscript } from '../caption/words/spoken.ts';
import type { ReceivedForm } from './received-form.ts';
import type { ReceivedFile } from '../media/receive-asset.ts';

const requestSchema = z.object({
  isJson: z.boolean(),
  fields: z.array(z.object({ name: z.string(), value: z.unknown() })),
  /**
   * Set if the request was already delivered and charged, so its render is free. With `asset_url`, for the file with
   * this hash.
   */
  replay: z.object({ sha256: z.string().optional() }).optional(),
  /** What is said in the video, once it is known. It takes the place of `captions=auto`. */
  transcript: z.custom<SpokenTranscript>((value) => typeof value === 'object').optional(),
});

type StoredReplay = NonNullable<z.infer<typeof requestSchema>['replay']>;

type RequestFields = Pick<ReceivedForm, 'fields' | 'isJson'>;

/** For a request that was parsed without faults. */
export function storeRequest({ fields, isJson = false }: RequestFields): string {
  const kept = fields
    .filter(({ name }) => name !== 'put_headers')
    .map(({ name, value }) => ({ name, value: keptValue(name, value) }));
  return JSON.stringify({ isJson, fields: kept });
}

/** The query and the headers of `put_url` are secrets, which `PutTargets` keeps. */
function keptValue(name: string, value: unknown): unknown {
  if (name === 'captions') return keptCaptions(value);
  return name === 'put_url' && value !== null ? publicPartOf(value) : value;
}

/** Returns the same request as a repetition of a delivered one. `facts` are those of `Remembered`. */
export function asReplay(request: string, facts: string): string {
  const { sha256 } = JSON.parse(facts) as { readonly sha256?: string };
  const replay: StoredReplay = sha256 === undefined ? {} : { sha256 };
  return JSON.stringify({ ...requestSchema.parse(JSON.parse(request)), replay });
}

/** Returns undefined when the render isn't a repetition. */
export function replayOf(request: string): StoredReplay | undefined {
  return requestSchema.parse(JSON.parse(request)).replay;
}

/** True if the captions are what is said in the video. */
export function isFromSpeech(request: string): boolean {
  const { fields } = requestSchema.parse(JSON.parse(request));
  return fields.some(({ name, value }) => name === 'captions' && typeof value === 'string' && value.trim() === 'auto');
}

/** Returns the same request with its transcript. */
export function withTranscript(request: string, transcript: SpokenTranscript): string {
  return JSON.stringify({ ...requestSchema.parse(JSON.parse(request)), transcript });
}

/** Returns undefined until there is one. */
export function transcriptOf(request: string): SpokenTranscript | undefined {
  return requestSchema.parse(JSON.parse(request)).transcript;
}

export function restoreRequest(json: string, asset: ReceivedFile | undefined): ReceivedForm {
  const { fields, isJson } = requestSchema.parse(JSON.parse(json));
  return { fields, isJson, faults: [], hasAsset: asset !== undefined, asset };
}
