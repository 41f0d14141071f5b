// Calls the API for commands that manage what an account has saved.

import { Storybar } from '#client';
import { readClientSettings } from '../service/config/settings.ts';
import { text } from './options.ts';
import { failureOf } from './send/failures.ts';
import { serverOf } from './server-options.ts';

/** The options that name the server and the account. */
export const SERVER = { url: text('<url>'), key: text('<key>') };

export interface ServerInput {
  readonly url: string | undefined;
  readonly key: string | undefined;
}

export async function withClient<Result>(
  { url, key }: ServerInput,
  use: (client: Storybar, url: string) => Promise<Result>,
): Promise<Result> {
  const server = serverOf(readClientSettings(), url, key);
  try {
    return await use(new Storybar({ baseUrl: server.url, apiKey: server.key }), server.url);
  } catch (error) {
    throw failureOf(error, server.url);
  }
}
