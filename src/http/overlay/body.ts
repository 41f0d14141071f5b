// The encodings of a request body, chosen by its content type.

import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';
import { assertMultipart, type ReceivedForm, receiveForm } from './multipart.ts';
import type { AssetDestination } from './receive-asset.ts';
import { assertSmall, receiveJson, receiveUrlencoded } from './small-body.ts';

type ReadBody = (signal: AbortSignal, destination: AssetDestination) => Promise<ReceivedForm>;

/** Refuses a body by its headers, before the client sends it. Otherwise returns the function that reads it. */
export function bodyReader(request: IncomingMessage, maxAssetBytes: number): ReadBody {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  switch (type.trim().toLowerCase()) {
    case 'multipart/form-data':
      assertMultipart(request, maxAssetBytes);
      return async (signal, destination) => await receiveForm(request, destination, signal);
    case 'application/json':
      assertSmall(request);
      return async (signal) => await receiveJson(request, signal);
    case 'application/x-www-form-urlencoded':
      assertSmall(request);
      return async (signal) => await receiveUrlencoded(request, signal);
    default:
      throw new AppError(
        'unsupported_content_type',
        'Send the request as multipart/form-data, application/json or application/x-www-form-urlencoded.',
      );
  }
}
