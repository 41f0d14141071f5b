// The finished file beside the one it was made from: what it is, what it cost, and a slider to compare the two.

import { OUTPUT_FORMATS } from '../../../engine/caption/output-format.ts';
import { listenToCompare } from '../compare.ts';
import { find } from '../elements.ts';
import type { Editor } from './editor.ts';
import { megabytes } from './payer.ts';
import { draftOf, type FinishedFile, sourceOf, type State } from './state.ts';

const SHOWN_HEADERS = [
  'content-type',
  'content-length',
  'x-source-type',
  'x-source-pixels',
  'x-quality',
  'x-render-duration-ms',
  'server-timing',
  'x-missing-glyphs',
  'x-warnings',
  'x-credits-charged',
  'x-credits-remaining',
  'x-render-id',
] as const;

export async function resultOf(response: Response, state: State): Promise<FinishedFile | undefined> {
  const { media } = state;
  if (media === undefined) return undefined;
  const blob = await response.blob();
  const url = URL.createObjectURL(blob);
  const after = await openResult(blob, url).catch(() => undefined);
  const before = after && beforeOf(state, after);
  return { media, draft: draftOf(state), blob, url, headers: response.headers, before, after };
}

async function openResult({ type }: Blob, url: string): Promise<HTMLImageElement | HTMLVideoElement> {
  if (!type.startsWith('video/')) {
    const image = Object.assign(new Image(), { src: url, alt: 'The captioned image' });
    await image.decode();
    return image;
  }
  const video = document.createElement('video');
  Object.assign(video, { src: url, controls: true, loop: true, muted: true, playsInline: true });
  await new Promise((resolve, reject) => {
    video.addEventListener('loadeddata', resolve, { once: true });
    video.addEventListener('error', reject, { once: true });
  });
  return video;
}

/** A copy of the file in the shape of the result. */
function beforeOf(state: State, after: HTMLElement): HTMLElement | undefined {
  const source = sourceOf(state);
  const element = state.media?.element;
  if (source === 'canvas' || source === 'clip' || element === undefined) return undefined;
  if (source === 'frame' || !(element instanceof HTMLVideoElement)) return still(element);
  const copy = element.cloneNode() as HTMLVideoElement;
  copy.muted = true;
  if (!(after instanceof HTMLVideoElement)) return still(element);
  const follow = (): void => {
    copy.currentTime = after.currentTime;
    if (after.paused) copy.pause();
    else copy.play().catch(() => undefined);
  };
  for (const event of ['play', 'pause', 'seeked']) after.addEventListener(event, follow);
  return copy;
}

function still(element: HTMLImageElement | HTMLVideoElement): HTMLElement {
  if (element instanceof HTMLImageElement) return element.cloneNode() as HTMLElement;
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: element.videoWidth, height: element.videoHeight });
  canvas.getContext('2d')?.drawImage(element, 0, 0);
  return canvas;
}

/** One line about the file, such as "1080 × 1920 PNG, 1.6 MB, 0.3 s, 1 credit". */
export function factsOf({ blob, headers }: Pick<FinishedFile, 'blob' | 'headers'>, size: string): string {
  const [title] = Object.values(OUTPUT_FORMATS).flatMap(({ mediaType, title: name }) =>
    mediaType === blob.type ? [name] : [],
  );
  const milliseconds = headers.get('x-render-duration-ms');
  const credits = headers.get('x-credits-charged');
  const bytes = blob.size < 100_000 ? `${Math.ceil(blob.size / 1_000)} KB` : `${megabytes(blob.size)} MB`;
  return [
    [size, title].filter(Boolean).join(' '),
    bytes,
    ...(milliseconds === null ? [] : [`${(Number(milliseconds) / 1_000).toFixed(1)} s`]),
    credits === null || credits === '0' ? 'free' : `${credits} ${credits === '1' ? 'credit' : 'credits'}`,
  ].join(', ');
}

let isListening = false;

/** Called before each result. */
export function showResults(store: Editor, root: HTMLElement): void {
  if (isListening) return;
  isListening = true;
  listenToCompare(find(root, '[data-compare]', HTMLElement));
  const copy = find(root, '[data-copy-image]', HTMLButtonElement);
  let shown: FinishedFile | undefined;
  copy.addEventListener('click', () => {
    if (shown) void copyImage(copy, shown.blob);
  });
  store.watch(['result', 'media', 'history'], ({ result, media, history }) => {
    // A result belongs to its file.
    root.hidden = result === undefined || result.media !== media;
    find(root, '[data-outdated]', HTMLElement).hidden = result?.draft === history.current;
    if (result === undefined || result === shown) return;
    if (shown) URL.revokeObjectURL(shown.url);
    shown = result;
    drawResult(root, result);
    copy.hidden = result.blob.type !== 'image/png' || !('ClipboardItem' in window);
    find(root, 'h2', HTMLElement).focus();
  });
}

function drawResult(root: HTMLElement, result: FinishedFile): void {
  const { media, url, blob, headers, before, after, draft } = result;
  const compare = find(root, '[data-compare]', HTMLElement);
  const frame = find(root, '[data-result-media]', HTMLElement);
  frame.replaceChildren(...(before ? [before] : []), ...(after ? [after] : []));
  frame.className = `frame fit-${draft.fields['fit'] ?? 'crop'}`;
  compare.classList.toggle('single', before === undefined);
  before?.classList.add('before');
  before?.setAttribute('aria-hidden', 'true');
  after?.classList.add('after');
  const [width = 0, height = 0] =
    after instanceof HTMLVideoElement
      ? [after.videoWidth, after.videoHeight]
      : [after?.naturalWidth, after?.naturalHeight];
  find(root, '[data-facts]', HTMLElement).textContent = factsOf(result, width === 0 ? '' : `${width} × ${height}`);
  const link = find(root, '[data-download]', HTMLAnchorElement);
  link.href = url;
  link.download = `${media.file.name.replace(/\.[^.]*$/u, '')}-captioned.${extensionOf(blob)}`;
  find(root, '[data-headers]', HTMLElement).replaceChildren(...headerRows(headers, SHOWN_HEADERS));
}

async function copyImage(button: HTMLButtonElement, blob: Blob): Promise<void> {
  const label = 'Copy image';
  try {
    await navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]);
    button.textContent = 'Copied';
  } catch {
    button.textContent = "Couldn't copy";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 2_000);
}

export function extensionOf({ type }: Blob): string {
  return Object.values(OUTPUT_FORMATS).find(({ mediaType }) => mediaType === type)?.extension ?? 'bin';
}

/** Returns a row for each of the names that the response has. */
export function headerRows(headers: Headers, names: readonly string[]): HTMLTableRowElement[] {
  return names.flatMap((name) => {
    const value = headers.get(name);
    if (value === null) return [];
    const row = document.createElement('tr');
    const head = document.createElement('th');
    head.scope = 'row';
    head.textContent = name;
    row.append(head);
    row.insertCell().textContent = value;
    return [row];
  });
}
