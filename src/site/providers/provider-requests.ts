// Requests to sign-in providers. A provider that hangs, fails or sends endless bytes must not hold a visitor's request.

import type * as OAuth from 'oauth4webapi';
import { ProviderError } from './provider-client.ts';

/** The timeout for all requests of one step together. */
export const PROVIDER_TIMEOUT_MS = 8_000;
const MAX_BYTES = 256 * 1024;

/** Loaded on demand, because most servers don't need it. */
export const oauthLibrary = async (): Promise<typeof OAuth> => await import('oauth4webapi');

/**
 * Returns the library's options for the requests of one step. The settings allow plain HTTP only within this machine.
 */
export function requestOptions(
  { allowInsecureRequests, customFetch }: typeof OAuth,
  baseUrl: string,
  timeoutMs: number,
) {
  return {
    signal: AbortSignal.timeout(timeoutMs),
    [allowInsecureRequests]: baseUrl.startsWith('http:'),
    [customFetch]: boundedFetch,
  };
}

/** Turns every error into one whose message is safe to log. Errors of the library can hold responses with tokens. */
export async function providerStep<Result>(oauth: typeof OAuth, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    if (error instanceof oauth.AuthorizationResponseError) {
      throw new ProviderError(error.error === 'access_denied' ? 'denied' : 'failed', `refused: ${plain(error.error)}`);
    }
    if (error instanceof oauth.ResponseBodyError) throw new ProviderError('failed', `refused: ${plain(error.error)}`);
    throw new ProviderError('failed', error instanceof Error ? error.message : 'unknown error');
  }
}

async function boundedFetch(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    const body = await bodyOf(response);
    if (response.status >= 500 || response.status === 429) {
      throw new ProviderError('unavailable', `status ${response.status}`);
    }
    return new Response(body, { status: response.status, headers: response.headers });
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    throw new ProviderError('unavailable', reasonOf(error));
  }
}

async function bodyOf({ body }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new ProviderError('failed', `the response is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return bytes === 0 ? null : Buffer.concat(chunks);
}

/** A failed `fetch` has its reason in the cause. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return reason instanceof Error ? reason.message || reason.name : 'unknown error';
}

/** Cleans error codes, which come from the provider. */
export function plain(code: string): string {
  return code.replaceAll(/[^\w.-]/gu, ' ').slice(0, 80);
}
