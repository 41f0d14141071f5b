// A number of clients that each send the next request as soon as they have the response to the last one.

import { Agent, request } from 'node:http';
import { FORM_TYPE } from '../prove/client.ts';

export interface Endpoint {
  readonly url: string;
  /** The hand-written server ignores it. */
  readonly key: string;
}

export interface ClientsResult {
  readonly perSecond: number;
  /** Milliseconds of each request, shortest first. */
  readonly times: readonly number[];
}

export async function runClients(
  endpoint: Endpoint,
  body: Buffer,
  count: number,
  seconds: number,
): Promise<ClientsResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const times: number[] = [];
  const startedAt = performance.now();
  const stopAt = startedAt + seconds * 1_000;
  const client = async (): Promise<void> => {
    while (performance.now() < stopAt) {
      const sentAt = performance.now();
      await post(endpoint, agent, body);
      times.push(performance.now() - sentAt);
    }
  };
  try {
    await Promise.all(Array.from({ length: count }, client));
  } finally {
    agent.destroy();
  }
  // Requests that were running at the end are counted, so the time they took is counted as well.
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  return { perSecond: times.length / elapsedSeconds, times: times.toSorted((a, b) => a - b) };
}

/** Reads the response and discards it. Any status but 200 is an error, because it would count as a very fast render. */
async function post({ url, key }: Endpoint, agent: Agent, body: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const headers = { 'x-api-key': key, 'content-type': FORM_TYPE, 'content-length': body.length };
    const outgoing = request(`${url}/v1/overlay`, { method: 'POST', agent, headers }, (response) => {
      response.on('error', reject);
      if (response.statusCode !== 200) reject(new Error(`${url} responded with ${response.statusCode}`));
      response.on('end', resolve).resume();
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
