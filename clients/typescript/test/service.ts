// The addresses of the service and its stand-in. `npm run test:clients` in the repository starts both.

import path from 'node:path';
import { Storybar, type StorybarOptions } from '@storybar/client';

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing. Run \`npm run test:clients\` in the repository.`);
  return value;
}

export const SERVICE_URL = setting('TESTS_URL');
export const STAND_IN_URL = setting('STORYBAR_STAND_IN_URL');
const API_KEY = setting('TESTS_KEY');
const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples');
export const PHOTO = path.join(EXAMPLES, 'photo.jpg');
export const CLIP = path.join(EXAMPLES, 'clip.mp4');

export function service(options: StorybarOptions = {}): Storybar {
  return new Storybar({ baseUrl: SERVICE_URL, apiKey: API_KEY, ...options });
}

export function standIn(options: StorybarOptions = {}): Storybar {
  return new Storybar({ baseUrl: STAND_IN_URL, apiKey: 'sb_live_stand_in', ...options });
}

/** Returns the error that the promise rejects with, checked for its class. */
export async function rejection<Failure extends Error>(
  promise: Promise<unknown>,
  Type: new (...args: never[]) => Failure,
): Promise<Failure> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Type) return error;
    throw error;
  }
  throw new Error(`Nothing was thrown; expected a ${Type.name}.`);
}
