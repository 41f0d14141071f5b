// Determines who pays for a render, where it is sent, whether the file is allowed, and the price that the visitor sees before
// the click.

import { quoteFor } from '../../../service/account/pricing.ts';
import type { CaptionStyle } from '../../../engine/caption/style.ts';

/** Limits of files, in bytes and seconds. */
interface FileLimits {
  readonly imageBytes: number;
  readonly videoBytes: number;
  readonly videoSeconds: number;
}

export interface Account {
  readonly email: string;
  /** `test` renders are free and watermarked, until the visitor confirms their address. */
  readonly mode: 'live' | 'test';
  readonly credits: number;
  /** Proves that a request comes from this page. */
  readonly token: string;
  readonly limits: FileLimits;
  readonly styles: readonly { readonly name: string; readonly style: CaptionStyle }[];
  readonly logos: readonly { readonly id: string; readonly label: string }[];
}

/** The part of a page's state that concerns renders. */
export interface RenderState {
  /** Undefined for visitors who aren't signed in. */
  readonly account: Account | undefined;
  readonly key: string;
  readonly rendering: { readonly phase: 'upload' | 'render'; readonly fraction: number | undefined } | undefined;
  /** Why the last render failed. */
  readonly problem: string;
}

export const NOT_RENDERING: RenderState = { account: undefined, key: '', rendering: undefined, problem: '' };

export interface PriceRules {
  readonly maxSide: number;
  /** The longer side of a preview without a watermark. */
  readonly unmarkedSide: number;
  /** Of visitors without a key. `videoSeconds` is 0 if they can't render videos. */
  readonly guests: FileLimits;
  /** Undefined when visitors can't sign up for a free plan. */
  readonly signUpPath: string | undefined;
}

/** Reads the terms from the page. */
export function termsIn(dataset: Readonly<Record<string, string | undefined>>): PriceRules {
  return {
    maxSide: Number(dataset['maxSide']),
    unmarkedSide: Number(dataset['unmarkedSide']),
    guests: {
      imageBytes: Number(dataset['imageBytes']),
      videoBytes: Number(dataset['videoBytes']),
      videoSeconds: Number(dataset['freeSeconds']),
    },
    signUpPath: dataset['signUpPath'] || undefined,
  };
}

/** The work that the visitor pays for. */
export interface RenderWork {
  /** The length of a video. Undefined for an image. */
  readonly seconds: number | undefined;
  /** The file that is sent, if there is one. `seconds` is its length, also where only a frame of it is rendered. */
  readonly file?: { readonly bytes: number; readonly seconds: number | undefined } | undefined;
  /** True for a video without a file, which visitors without a key can't render. */
  readonly isClip?: boolean;
}

export type Order = RenderWork & Pick<RenderState, 'key' | 'account'>;

/** The price of a render in words. `isPossible` is false if the render would be refused. */
export interface Quote {
  readonly text: string;
  readonly isPossible: boolean;
}

/** Browsers round the length of a video, so a clip cut at the limit may seem longer. */
const SECONDS_TOLERANCE = 0.5;

export function quote(order: Order, terms: PriceRules): Quote {
  const { seconds, key, account } = order;
  // The limits of a key's plan aren't known here.
  const refusal = key === '' ? refusalOf(order, terms) : undefined;
  if (refusal !== undefined) return { text: refusal, isPossible: false };
  if (key.startsWith('sb_test_')) return possible('Free with a test key, watermarked.');
  if (key === '' && account === undefined) {
    const side = terms.maxSide.toLocaleString('en');
    if (order.file?.seconds !== undefined) return possible('Free, with a watermark. One clip per day.');
    return possible(`Free, with a watermark and at most ${side} pixels on the longer side.`);
  }
  const credits = quoteFor(seconds, 'live');
  const length = seconds === undefined ? '' : `${seconds.toFixed(1)} s = `;
  const price = `${length}${credits} ${credits === 1 ? 'credit' : 'credits'}.`;
  if (key !== '' || account === undefined) return possible(price);
  if (account.mode === 'test') return possible('Free and watermarked until you confirm your email address.');
  const left = account.credits.toLocaleString('en');
  if (account.credits >= credits) return possible(`${price} You have ${left} left.`);
  return { text: `${price} You have ${left} left, which isn't enough.`, isPossible: false };
}

function possible(text: string): Quote {
  return { text, isPossible: true };
}

/** Says which limit the file exceeds, before it is uploaded. */
function refusalOf({ seconds, file, isClip = false, account }: Order, terms: PriceRules): string | undefined {
  const { imageBytes, videoBytes, videoSeconds } = account?.limits ?? terms.guests;
  const advice = terms.signUpPath === undefined ? '' : ' Get one free.';
  const length = file?.seconds ?? seconds;
  if (account === undefined && (isClip || (length !== undefined && videoSeconds === 0))) {
    return `${isClip ? 'Clips of captions' : 'Videos'} need an API key.${advice}`;
  }
  const maxBytes = file?.seconds === undefined ? imageBytes : videoBytes;
  if (file !== undefined && file.bytes > maxBytes) {
    const kind = file.seconds === undefined ? 'Images' : 'Videos';
    return `This file has ${megabytes(file.bytes)} MB. ${kind} can have up to ${megabytes(maxBytes)} MB.`;
  }
  if (length === undefined || length <= videoSeconds + SECONDS_TOLERANCE) return undefined;
  if (account === undefined) return `Videos over ${videoSeconds} seconds need an API key.${advice}`;
  return `This video has ${length.toFixed(1)} seconds. Your plan allows ${videoSeconds}. The API renders longer ones asynchronously.`;
}

export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toLocaleString('en', { maximumFractionDigits: 1 });
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
