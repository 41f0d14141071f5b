// Determines who pays for a render, where it is sent, and the price that the visitor sees before the click.

import { quoteFor } from '../../../account/pricing.ts';

export interface Account {
  readonly email: string;
  /** `test` renders are free and watermarked, until the visitor confirms their address. */
  readonly mode: 'live' | 'test';
  readonly credits: number;
  /** Proves that a request comes from this page. */
  readonly token: string;
}

export interface PriceRules {
  readonly maxSide: number;
  /** The length of a video that visitors without a key can render. 0 means none. */
  readonly freeSeconds: number;
  /** Undefined when visitors can't sign up for a free plan. */
  readonly signUpPath: string | undefined;
}

/** Reads the terms from the page. */
export function termsIn(dataset: Readonly<Record<string, string | undefined>>): PriceRules {
  return {
    maxSide: Number(dataset['maxSide']),
    freeSeconds: Number(dataset['freeSeconds']),
    signUpPath: dataset['signUpPath'] || undefined,
  };
}

export interface Order {
  /** The length of a video. Undefined for an image. */
  readonly seconds: number | undefined;
  readonly key: string;
  readonly account: Account | undefined;
}

/** The price of a render in words. `isPossible` is false if the render would be refused. */
export interface Quote {
  readonly text: string;
  readonly isPossible: boolean;
}

/** Browsers round the length of a video, so a clip cut at the limit may seem longer. */
const SECONDS_TOLERANCE = 0.5;

export function quote({ seconds, key, account }: Order, terms: PriceRules): Quote {
  if (key.startsWith('sb_test_')) return { text: 'Free with a test key, watermarked.', isPossible: true };
  if (key === '' && account === undefined) return guestQuote(seconds, terms);
  const credits = quoteFor(seconds, 'live');
  const length = seconds === undefined ? '' : `${seconds.toFixed(1)} s = `;
  const price = `${length}${credits} ${credits === 1 ? 'credit' : 'credits'}.`;
  if (key !== '' || account === undefined) return { text: price, isPossible: true };
  if (account.mode === 'test') {
    return { text: 'Free and watermarked until you confirm your email address.', isPossible: true };
  }
  const left = account.credits.toLocaleString('en');
  if (account.credits < credits)
    return { text: `${price} You have ${left} left, which isn't enough.`, isPossible: false };
  return { text: `${price} You have ${left} left.`, isPossible: true };
}

function guestQuote(seconds: number | undefined, { maxSide, freeSeconds, signUpPath }: PriceRules): Quote {
  if (seconds === undefined) {
    const side = maxSide.toLocaleString('en');
    return { text: `Free, with a watermark and at most ${side} pixels on the longer side.`, isPossible: true };
  }
  if (freeSeconds > 0 && seconds <= freeSeconds + SECONDS_TOLERANCE) {
    return { text: 'Free, with a watermark. One clip per day.', isPossible: true };
  }
  const which = freeSeconds > 0 ? `Videos over ${freeSeconds} seconds` : 'Videos';
  return { text: `${which} need an API key.${signUpPath === undefined ? '' : ' Get one free.'}`, isPossible: false };
}

/** Returns undefined for visitors who aren't signed in, and when the account can't be loaded. */
export async function loadAccount(): Promise<Account | undefined> {
  try {
    const response = await fetch('/playground/account');
    return response.ok ? (((await response.json()) as { account: Account | null }).account ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

/** A key takes precedence over the session. */
export function routeOf({ key, account }: Pick<Order, 'key' | 'account'>): {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  if (key !== '') return { path: '/playground/account/render', headers: { 'x-api-key': key } };
  if (account) return { path: '/playground/account/render', headers: { 'x-form-token': account.token } };
  return { path: '/playground/render', headers: {} };
}
