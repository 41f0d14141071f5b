// GET and HEAD of a result, by a link that can't be guessed. It needs no key, so platforms and players can follow it.

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STRING } from '../../api/schema-parts.ts';
import { AppError } from '../../../shared/errors.ts';
import type { ObjectRange, ObjectStorage } from '../../storage/object-storage.ts';
import type { RenderRecord } from '../../store/renders/render.ts';
import type { Renders } from '../../store/renders/renders.ts';
import type { FileSender } from '../overlay/file-sender.ts';
import { describeOperations, header, headersOf, inPath, routesOf } from '../operation.ts';
import { FILE_CONTENT } from '../reference/openapi-form.ts';
import { COMMON_HEADERS, type HeaderName } from '../reference/response-headers.ts';
import type { RouteGroup } from '../route-group.ts';
import { parseRange } from './range.ts';
import { parseResult } from '../../renders/render-result.ts';
import { CAPTIONS_EXTENSION, RESULTS_PATH } from '../../renders/render-view.ts';

export interface ResultDependencies {
  readonly renders: Pick<Renders, 'findByToken'>;
  readonly storage: ObjectStorage;
  readonly sender: FileSender;
}

/** The time is short, because a result can be deleted. */
const CACHE_SECONDS = 300;
const EXPOSED = 'accept-ranges, content-disposition, content-length, content-range, etag';

/** Headers that let pages of any site read results, and errors about them. */
const SHARED_HEADERS = ['access-control-allow-origin', 'access-control-expose-headers'] as const;
const RESULT_HEADERS = [
  ...COMMON_HEADERS,
  'x-render-id',
  ...SHARED_HEADERS,
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'cross-origin-resource-policy',
  'etag',
  'referrer-policy',
] as const satisfies readonly HeaderName[];

export const RESULT_OPERATIONS = describeOperations(
  { tag: 'Stored renders', access: 'open' },
  {
    getResult: {
      route: `GET ${RESULTS_PATH}/{name}`,
      summary: 'Download a result',
      description: 'The link in `output.url`. Needs no key. Supports `range` and `HEAD`.',
      parameters: [
        inPath('name', 'As in the link.', STRING),
        header('range', 'The part of the file to send, such as `bytes=0-1023`.'),
        header('if-range', 'The `etag` of the file that the range is of. Another file is sent as a whole.'),
        header('if-none-match', 'The `etag` of the file that you have.'),
      ],
      success: {
        200: { description: 'The file.', headers: headersOf(RESULT_HEADERS), content: FILE_CONTENT },
        206: {
          description: 'The range of the file.',
          headers: headersOf([...RESULT_HEADERS, 'content-range']),
          content: FILE_CONTENT,
        },
        304: { description: 'You have the file: `if-none-match` is its `etag`.', headers: headersOf(RESULT_HEADERS) },
      },
      errors: ['result_expired', 'range_not_satisfiable', 'storage_unavailable'],
      errorHeaders: [...SHARED_HEADERS, 'content-range'],
    },
  },
);

export function resultRoutes(dependencies: ResultDependencies): RouteGroup {
  return routesOf(RESULT_OPERATIONS, () => ({
    handler: async (request, reply) => {
      await sendResult(dependencies, request, reply);
      return reply;
    },
  }));
}

async function sendResult(
  { renders, storage, sender }: ResultDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  // Pages of any site may read errors, too.
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED });
  const { name } = request.params as { readonly name: string };
  const render = await renders.findByToken(name.replace(/\..*$/u, ''));
  if (render?.output === undefined)
    throw new AppError('not_found', "This result doesn't exist. It may have been deleted, or its account closed.");
  const { output } = render;
  if (output.expiresAt.getTime() <= Date.now()) {
    throw new AppError('result_expired', `This result could be downloaded until ${output.expiresAt.toISOString()}.`);
  }
  const captions = name.endsWith(CAPTIONS_EXTENSION) ? captionsOf(render) : undefined;
  const size = captions?.length ?? output.bytes;
  const headers = captions ? captionHeaders(render) : fileHeaders(render);
  if (request.headers['if-none-match'] === headers['etag']) {
    reply.code(304).headers(headers).send();
    return;
  }
  const range = rangeOf(request, size, headers['etag']);
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`);
    throw new AppError('range_not_satisfiable', `The file has ${size} bytes.`);
  }
  const length = range ? range.end - range.start + 1 : size;
  const isHead = request.method === 'HEAD';
  const stored = isHead || captions ? await storage.size(output.name) : (await storage.get(output.name, range))?.body;
  if (stored === undefined) throw new AppError('result_expired', 'This result has been deleted.');
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  // HEAD also gets a stream, because Fastify would replace the length of any other body.
  if (isHead) reply.headers({ ...headers, 'content-length': length }).send(Readable.from([]));
  else {
    const start = range?.start ?? 0;
    const body = typeof stored === 'number' ? Readable.from([captions?.subarray(start, start + length)]) : stored;
    await sender.sendBody(reply, { size: length, body }, headers);
  }
}

/** Captions from speech as WebVTT, under the link of their result. */
function captionsOf({ result = '{}' }: RenderRecord): Buffer {
  const webVtt = parseResult(result).captions?.webVtt;
  if (webVtt) return Buffer.from(webVtt);
  throw new AppError('not_found', 'Only results with captions from speech have captions.');
}

function captionHeaders(render: RenderRecord): Record<string, string> {
  return {
    ...fileHeaders(render),
    'content-type': 'text/vtt; charset=utf-8',
    'content-disposition': `inline; filename="${render.id}${CAPTIONS_EXTENSION}"`,
    etag: `"${render.id}-captions"`,
  };
}

function fileHeaders({ id, result = '{}' }: RenderRecord): Record<string, string> {
  const { headers } = parseResult(result);
  return {
    'content-type': headers['content-type'] ?? 'application/octet-stream',
    'content-disposition': headers['content-disposition'] ?? 'inline',
    'accept-ranges': 'bytes',
    'x-render-id': id,
    etag: `"${id}"`,
    'cache-control': `private, max-age=${CACHE_SECONDS}`,
    // A page of another origin may embed the file.
    'cross-origin-resource-policy': 'cross-origin',
    // The link is the only secret, so it must not end up in the logs of other sites.
    'referrer-policy': 'no-referrer',
  };
}

/** A range of an older version of the file (`if-range`) is ignored, as are forms that this server doesn't support. */
function rangeOf(
  { headers }: FastifyRequest,
  size: number,
  etag: string | undefined,
): ObjectRange | 'unsatisfiable' | undefined {
  const condition = headers['if-range'];
  if (condition !== undefined && condition !== etag) return undefined;
  return parseRange(headers.range, size);
}
