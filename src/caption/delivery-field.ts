// `async` and `deliver` decide whether the request waits for its render, and whether the response is the file or a link
// to it.

import type { FieldReader } from './field-reader.ts';
import type { PutRequest } from './put-fields.ts';
import { DELIVERY_FIELDS } from './request-fields.ts';

const DELIVERIES = DELIVERY_FIELDS.deliver.enum;

export interface Delivery {
  /** If true, the response comes before the render. */
  readonly isAsync: boolean;
  /** If true, the response has a link to the file, as it always has for asynchronous requests. */
  readonly isLink: boolean;
  /** The URL that gets a webhook when the render ends. */
  readonly webhookUrl?: URL | undefined;
  /** Where the file is sent to instead of being kept. */
  readonly put?: PutRequest | undefined;
}

/** A blank field counts as absent. */
export function parseDelivery(fields: FieldReader): Delivery {
  const isAsync = fields.boolean('async');
  const deliver = fields.text('deliver')?.trim() ?? '';
  if (deliver !== '' && !DELIVERIES.some((known) => known === deliver)) {
    fields.add('deliver', 'wrong_type', `Deliver must be ${DELIVERIES.join(' or ')}.`);
  } else if (isAsync && deliver === 'bytes') {
    fields.add('deliver', 'conflict', 'An asynchronous request gets a link. Leave deliver out, or send url.');
  }
  return { isAsync, isLink: isAsync || deliver === 'url' };
}
