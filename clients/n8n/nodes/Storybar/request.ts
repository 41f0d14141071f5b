// Requests to the Storybar API, with its errors turned into those of n8n.

import type {
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestMethods,
  IHttpRequestOptions,
  ILoadOptionsFunctions,
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

/** The options of all our requests: errors are ours to explain, and bodies can be files. */
const RAW = { encoding: 'arraybuffer', returnFullResponse: true, ignoreHttpStatusErrors: true } as const;

export async function apiRequest(
  context: IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions,
  method: IHttpRequestMethods,
  path: string,
  options: Partial<IHttpRequestOptions> = {},
  itemIndex?: number,
): Promise<ApiResponse> {
  const { url: server } = await context.getCredentials<{ url: string }>('storybarApi', itemIndex);
  const url = `${server.replace(/\/+$/, '')}${path}`;
  const request = { method, url, ...RAW, ...options };
  const response: ApiResponse = await context.helpers.httpRequestWithAuthentication.call(
    context,
    'storybarApi',
    request,
  );
  return requireSuccess(context, response, itemIndex);
}

/** Sends no API key, because links need none and can lead to another host. */
export async function download(context: IExecuteFunctions, url: string, itemIndex: number): Promise<ApiResponse> {
  const response: ApiResponse = await context.helpers.httpRequest({ method: 'GET', url, ...RAW });
  return requireSuccess(context, response, itemIndex);
}

function requireSuccess(
  context: IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions,
  response: ApiResponse,
  itemIndex: number | undefined,
): ApiResponse {
  const body = Buffer.from(response.body ?? []);
  if (response.statusCode < 400) return { ...response, body };
  throw apiError(context, response.statusCode, parseProblem(body), itemIndex);
}

/** The description lists every invalid field, not only the first. */
export function apiError(
  context: IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions,
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
    // A proxy sent a page instead of a problem. The status still tells the kind of error.
    return {};
  }
}

export function parseJson<Value>({ body }: ApiResponse): Value {
  return JSON.parse(body.toString()) as Value;
}

/**
 * The body is built by hand, because community nodes have no dependencies and n8n's request helper needs one for forms.
 */
export function multipart(
  fields: Readonly<Record<string, unknown>>,
  { content, name }: { readonly content: Buffer; readonly name: string },
): { body: Buffer; headers: Record<string, string> } {
  const boundary = `storybar-${crypto.randomUUID()}`;
  const texts = Object.entries(fields).map(([field, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${text}\r\n`;
  });
  const safeName = name.replace(/"/g, '%22').replace(/[\r\n]/g, ' ');
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="asset"; filename="${safeName}"\r\n\r\n`;
  return {
    body: Buffer.concat([Buffer.from(texts.join('') + head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}
