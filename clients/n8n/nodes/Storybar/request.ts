// Requests to the Storybar API, with its errors turned into those of n8n.

import type {
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestMethods,
  IHttpRequestOptions,
  JsonObject,
} from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

export interface ApiResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: ReadonlyArray<{ pointer: string; detail: string }>;
}

export async function apiRequest(
  context: IExecuteFunctions | IHookFunctions,
  method: IHttpRequestMethods,
  path: string,
  options: Partial<IHttpRequestOptions> = {},
  itemIndex?: number,
): Promise<ApiResponse> {
  const { url } = await context.getCredentials<{ url: string }>('storybarApi', itemIndex);
  const response: ApiResponse = await context.helpers.httpRequestWithAuthentication.call(context, 'storybarApi', {
    method,
    url: path.startsWith('http') ? path : `${url.replace(/\/+$/, '')}${path}`,
    encoding: 'arraybuffer',
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    ...options,
  });
  const body = Buffer.from(response.body ?? []);
  if (response.statusCode < 400) return { ...response, body };
  throw apiError(context, response.statusCode, parseProblem(body), itemIndex);
}

/** Every invalid field is in the description, not only the first. */
export function apiError(
  context: IExecuteFunctions | IHookFunctions,
  status: number,
  problem: Problem,
  itemIndex?: number,
): NodeApiError {
  const faults = (problem.errors ?? []).map(({ pointer, detail }) => `${pointer}: ${detail}`);
  return new NodeApiError(context.getNode(), { ...problem } as JsonObject, {
    message: problem.detail ?? problem.title ?? `Storybar responded with status ${status}`,
    description: [problem.code, ...faults].filter(Boolean).join('\n'),
    httpCode: String(status),
    itemIndex,
  });
}

function parseProblem(body: Buffer): Problem {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // A proxy sent a page instead of a problem. The status still says what kind of error it is.
    return {};
  }
}

export function parseJson<Value>({ body }: ApiResponse): Value {
  return JSON.parse(body.toString()) as Value;
}

/** Built by hand, because community nodes have no dependencies and n8n's request helper needs one for forms. */
export function multipart(
  fields: Readonly<Record<string, unknown>>,
  file: Buffer,
  filename: string,
): { body: Buffer; contentType: string } {
  const boundary = `storybar-${crypto.randomUUID()}`;
  const texts = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  });
  const safeName = filename.replace(/"/g, '%22').replace(/[\r\n]/g, ' ');
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="asset"; filename="${safeName}"\r\n\r\n`;
  return {
    body: Buffer.concat([Buffer.from(texts.join('') + head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}
