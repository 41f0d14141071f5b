// The fields of an accepted request as JSON. They are parsed again when the render starts, so a field that is added later
// needs no change here.

import { z } from 'zod';
import { fingerprint } from '../overlay/idempotency.ts';
import type { ReceivedForm } from '../overlay/multipart.ts';
import type { ReceivedFile } from '../overlay/receive-asset.ts';

const requestSchema = z.object({
  isJson: z.boolean(),
  fields: z.array(z.object({ name: z.string(), value: z.unknown() })),
});

type RequestFields = Pick<ReceivedForm, 'fields' | 'isJson'>;

export function storeRequest({ fields, isJson = false }: RequestFields): string {
  return JSON.stringify({ isJson, fields: fields.map(({ name, value }) => ({ name, value })) });
}

export function restoreRequest(json: string, asset: ReceivedFile | undefined): ReceivedForm {
  const { fields, isJson } = requestSchema.parse(JSON.parse(json));
  return { fields, isJson, faults: [], hasAsset: asset !== undefined, asset };
}

/** The same for `async` and for the `prefer` header, and different from that of a synchronous request. */
export function asyncFingerprint({ fields, asset }: Pick<ReceivedForm, 'fields' | 'asset'>): string {
  const others = fields.filter(({ name }) => name !== 'async');
  return fingerprint({ fields: [...others, { name: 'async', value: true }], asset });
}
