// From the received form of a batch to its renders.

import { randomUUID } from 'node:crypto';
import type { Caller } from '../account/caller.ts';
import { typeName } from '../caption/quote.ts';
import { AppError, type FieldFault } from '../errors.ts';
import type { FetchPolicy } from '../fetch/fetch-policy.ts';
import { must } from '../primitives/must.ts';
import type { BatchedRequest } from './accept.ts';
import { newRender } from './new-render.ts';
import { parseRequest } from './parse.ts';
import type { ReceivedForm } from './received-form.ts';
import { MAX_BATCH } from './render-view.ts';
import type { SpeechCaptions } from './speech-captions.ts';

interface BatchRules {
  readonly policy: Pick<FetchPolicy, 'faultOf'>;
  readonly speechCaptions: SpeechCaptions;
}

/** Throws one error with the faults of all requests. */
export function parseBatch(
  { policy, speechCaptions }: BatchRules,
  forms: readonly ReceivedForm[],
  caller: Caller,
  batchId: string,
): BatchedRequest[] {
  const faults: FieldFault[] = [];
  const parsedRequests: BatchedRequest[] = [];
  // Lists sort renders of the same moment by id, the highest first, so a batch keeps the order of its requests.
  const ids = forms
    .map(() => randomUUID())
    .toSorted()
    .toReversed();
  for (const [index, single] of forms.entries()) {
    if (single.faults.some(({ pointer }) => pointer === '#')) {
      faults.push(...single.faults.map((one) => ({ ...one, pointer: `#/requests/${index}` })));
      continue;
    }
    try {
      const parsed = parseRequest(single, policy);
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

/** Each request as a form of its own. One that isn't an object is a form with that fault. */
export function formsOf(requests: readonly unknown[]): readonly ReceivedForm[] {
  return requests.map((item) => {
    const form = { isJson: true, hasAsset: false, asset: undefined };
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      const detail = `A request must be an object; got ${typeName(item)}.`;
      return { ...form, fields: [], faults: [{ pointer: '#', code: 'wrong_type', detail }] };
    }
    const fields = Object.entries(item).map(([name, value]: [string, unknown]) => ({ name, value }));
    return { ...form, fields, faults: [] };
  });
}

/** Returns the same batch if its requests are as they were sent. */
export function withRequests(
  batch: ReceivedForm,
  sent: readonly ReceivedForm[],
  forms: readonly ReceivedForm[],
): ReceivedForm {
  if (forms.every((form, index) => form === sent[index])) return batch;
  const requests = forms.map(({ fields }) => Object.fromEntries(fields.map(({ name, value }) => [name, value])));
  return { ...batch, fields: [{ name: 'requests', value: requests }] };
}

/** The requests of a batch, not parsed yet. */
export function requestsOf({ fields, isJson }: ReceivedForm): readonly unknown[] {
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
