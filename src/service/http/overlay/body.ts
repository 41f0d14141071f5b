// The encodings of a request body, selected by its content type.

import type { IncomingMessage } from 'node:http';
import { AppError } from '../../../shared/errors.ts';
import type { ReceivedForm } from '../../renders/received-form.ts';
import { assertMultipart, receiveForm } from './multipart.ts';
import type { AssetDestination } from '../../../engine/media/receive-asset.ts';
import { assertSmall, MAX_BODY_BYTES, MAX_SHORT_BODY_BYTES, receiveJson, receiveUrlencoded } from './small-body.ts';

const SMALL_TYPES_ONLY = 'Send the request as application/json or application/x-www-form-urlencoded.';

type ReadBody = (signal: AbortSignal, destination: AssetDestination) => Promise<ReceivedForm>;

/** Refuses a body by its headers, before the client sends it. Otherwise returns the function that reads it. */
export function bodyReader(request: IncomingMessage, maxAssetBytes: number): ReadBody {
  if (typeOf(request) === 'multipart/form-data') {
    assertMultipart(request, maxAssetBytes);
    return async (signal, destination) => await receiveForm(request, destination, signal);
  }
  const advice = `${SMALL_TYPES_ONLY} To upload a file, send it as multipart/form-data.`;
  return smallBodyReader(request, { advice, maxBytes: MAX_BODY_BYTES });
}

export interface SmallBodyOptions {
  /** For a caller that sends another type. */
  readonly advice?: string;
  /** By default, that of requests with short fields. */
  readonly maxBytes?: number;
}

/** Like `bodyReader`, for requests that never have a file. */
export function smallBodyReader(
  request: IncomingMessage,
  { advice = SMALL_TYPES_ONLY, maxBytes = MAX_SHORT_BODY_BYTES }: SmallBodyOptions,
): (signal: AbortSignal) => Promise<ReceivedForm> {
  switch (typeOf(request)) {
    case 'application/json':
      assertSmall(request, maxBytes);
      return async (signal) => await receiveJson(request, signal, maxBytes);
    case 'application/x-www-form-urlencoded':
      assertSmall(request, maxBytes);
      return async (signal) => await receiveUrlencoded(request, signal, maxBytes);
    default:
      throw new AppError('unsupported_content_type', advice);
  }
}

function typeOf({ headers }: IncomingMessage): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase();
}
