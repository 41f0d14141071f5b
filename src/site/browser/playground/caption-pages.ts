// The pages that subtitles or a transcript become. Only the service knows them, because they depend on fonts. Every change of
// a word makes them the visitor's own: cues that keep their times.

import { litTimes } from '../../../engine/caption/words/phrases.ts';
import { toWebVtt } from '../../../engine/caption/words/webvtt.ts';

interface SpokenWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A page as the service returns it. */
interface LaidOutPage extends SpokenWord {
  readonly words: readonly SpokenWord[];
}

export interface CaptionPage extends LaidOutPage {
  /** When each word is lit. */
  readonly lit: readonly { readonly start: number; readonly end: number }[];
}

export interface CaptionPages {
  /** The request that they are the response to. */
  readonly request: string;
  readonly pages: readonly CaptionPage[];
}

/** Returns the captions, as WebVTT, after one word of one page was replaced. Without a text, the word is removed. */
export function withWord(pages: readonly LaidOutPage[], page: number, word: number, text: string): string {
  const changed = pages.flatMap((one, index) => (index === page ? pageWith(one, word, text) : [one]));
  return toWebVtt(changed);
}

function pageWith(page: LaidOutPage, word: number, text: string): LaidOutPage[] {
  let [rest, written] = [page.text, ''];
  const words: SpokenWord[] = [];
  for (const [index, one] of page.words.entries()) {
    const at = rest.indexOf(one.text);
    const replaced = index === word ? text : one.text;
    if (at < 0) continue;
    const gap = rest.slice(0, at);
    rest = rest.slice(at + one.text.length);
    // The gap before a removed word goes with it.
    if (replaced === '') continue;
    written += words.length === 0 ? '' : gap;
    written += replaced;
    words.push({ ...one, text: replaced });
  }
  return words.length === 0 ? [] : [{ ...page, text: written + rest, words }];
}

/** The pages of these captions, or undefined if they can't be laid out. The preview reports why. */
export async function fetchPages(
  fields: Readonly<Record<string, string>>,
  token: string | undefined,
): Promise<readonly CaptionPage[] | undefined> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const headers = token === undefined ? {} : { 'x-form-token': token };
  const response = await fetch('/playground/pages', { method: 'POST', body, headers }).catch(() => undefined);
  if (response?.ok !== true) return undefined;
  const { pages } = (await response.json()) as { pages: LaidOutPage[] };
  return pages.map((page) => ({ ...page, lit: litTimes(page.words, page.end) }));
}
