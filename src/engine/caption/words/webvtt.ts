// Writes pages as WebVTT, with the times of words inside.

interface VttPage {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly words: readonly VttWord[];
}

interface VttWord {
  readonly text: string;
  readonly start: number;
}

export function toWebVtt(pages: readonly VttPage[]): string {
  const cues = pages.map(
    ({ start, end, ...page }) => `${timestamp(start)} --> ${timestamp(end)}\n${cueText(page, start)}\n`,
  );
  return `WEBVTT\n\n${cues.join('\n')}`;
}

/** Each word has its time before it, except the first if the page starts with it. */
function cueText({ text, words }: Pick<VttPage, 'text' | 'words'>, start: number): string {
  let written = '';
  let end = 0;
  for (const word of words) {
    const at = text.indexOf(word.text, end);
    if (at < 0) continue;
    written += escaped(text.slice(end, at));
    if (word.start > start) written += `<${timestamp(word.start)}>`;
    written += escaped(word.text);
    end = at + word.text.length;
  }
  // A blank line would end the cue.
  return (written + escaped(text.slice(end))).replaceAll(/\n{2,}/gu, '\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function timestamp(seconds: number): string {
  const total = Math.max(0, Math.round(seconds * 1_000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(total / 3_600_000), Math.floor(total / 60_000) % 60];
  return `${two(hours)}:${two(minutes)}:${two(Math.floor(total / 1_000) % 60)}.${String(total % 1_000).padStart(3, '0')}`;
}
