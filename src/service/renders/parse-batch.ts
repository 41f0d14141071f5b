// From the received form of a batch to its renders.

import { randomUUID } from 'node:crypto';
import type { Caller } from '../account/caller.ts';
import { isObject } from '../../engine/caption/check.ts';
import { typeName } from '../../engine/caption/quote.ts';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import type { FetchPolicy } from '../fetch/fetch-policy.ts';
import { must } from '../../shared/must.ts';
import type { BatchedRequest } from './accept.ts';
import { newRender } from './new-render.ts';
import { parseRequest, readForm } from './parse.ts';
import type { ReadRequest, ReceivedForm } from './received-form.ts';
import { MAX_BATCH } from './render-view.ts';
import type { SpeechCaptions } from './speech-captions.ts';

interface BatchRules {
  readonly policy: Pick<FetchPolicy, 'faultOf'>;
  readonly speechCaptions: SpeechCaptions;
}

/** Throws one error with the faults of all requests. */
export async function parseBatch(
  { policy, speechCaptions }: BatchRules,
  requests: readonly ReadRequest[],
  caller: Caller,
  batchId: string,
): Promise<BatchedRequest[]> {
  const faults: FieldFault[] = [];
  const parsedRequests: BatchedRequest[] = [];
  // Lists sort renders of the same moment by id, the highest first, so a batch keeps the order of its requests.
  const ids = requests
    .map(() => randomUUID())
    .toSorted()
    .toReversed();
  for (const [index, single] of requests.entries()) {
    if (single.faults.some(({ pointer }) => pointer === '#')) {
      faults.push(...single.faults.map((one) => ({ ...one, pointer: `#/requests/${index}` })));
      continue;
    }
    try {
      const parsed = await parseRequest(single, policy);
      speechCaptions.assertAvailable(caller, parsed);
      const id = must(ids[index], 'the id of a render');
      const render = newRender(caller, id, { parsed, batchId });
      parsedRequests.push({ render, put: parsed.delivery.put });
    } catch (error) {
      if (!(error instanceof AppError) || error.faults.length === 0) throw error;
      faults.push(
        ...error.faults.map((one) => ({ ...one, pointer: one.pointer.replace(/^#/u, `#/requests/${index}`) })),
      );
    }
  }
  const [first] = faults;
  if (first === undefined) return parsedRequests;
  const summary = faults.length === 1 ? first.detail : `The batch has ${faults.length} errors.`;
  throw new AppError('invalid_fields', summary, { faults });
}

/** The requests of a batch, each with its fields read. One that isn't an object has no fields, and that fault. */
export function readBatch(form: ReceivedForm): readonly ReadRequest[] {
  return requestsOf(form).map((item) => {
    const isValid = isObject(item);
    const detail = `A request must be an object; got ${typeName(item)}.`;
    const fields = Object.entries(isValid ? item : {}).map(([name, value]) => ({ name, value }));
    const faults = isValid ? [] : [{ pointer: '#', code: 'wrong_type', detail } as const];
    return readForm({ isJson: true, hasAsset: false, asset: undefined, fields, faults });
  });
}

function requestsOf({ fields, isJson }: ReceivedForm): readonly unknown[] {
  const unknown = fields.find(({ name }) => name !== 'requests');
  const requests = fields.find(({ name }) => name === 'requests')?.value;
  const isValid = isJson && Array.isArray(requests) && requests.length > 0 && requests.length <= MAX_BATCH;
  if (isValid && unknown === undefined) return requests;
  const detail = isValid
    ? 'A batch has only the field requests.'
    : `requests must be a JSON array of 1 to ${MAX_BATCH} objects.`;
  const code = Array.isArray(requests) && requests.length > MAX_BATCH ? 'too_many' : 'wrong_type';
  throw new AppError('invalid_fields', detail, {
    faults: [isValid ? { pointer: '#', code: 'unknown_field', detail } : { pointer: '#/requests', code, detail }],
  });
}
