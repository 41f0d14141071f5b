// The visitor's image or video. The browser shows it from memory and applies its rotation, so its size is that of the result.
// Of a file that the browser can't read, the server makes a still image.

import type { Size } from '../../../engine/layout/geometry.ts';
import { errorMessage } from '../problem.ts';

export interface Media extends Size {
  readonly kind: 'image' | 'video';
  readonly file: File;
  /** A video that only the server can read is shown as an image. */
  readonly element: HTMLImageElement | HTMLVideoElement;
  /** The length of a video. */
  readonly seconds: number | undefined;
  /** The name of the sample. Empty for a file of the visitor. */
  readonly sample: string;
  readonly release: () => void;
}

type OpenedMedia = Omit<Media, 'file' | 'sample'>;

const SEEK_MS = 5_000;

export async function openMedia(file: File, alt: string, sample = ''): Promise<Media> {
  const opened = await openHere(file, alt).catch(async () => await openAtServer(file, alt));
  return { ...opened, file, sample };
}

async function openHere(file: File, alt: string): Promise<OpenedMedia> {
  const url = URL.createObjectURL(file);
  const release = (): void => URL.revokeObjectURL(url);
  try {
    if (file.type.startsWith('video/')) return { ...(await openVideo(url, alt)), release };
    const element = await openImage(url, alt);
    return {
      kind: 'image',
      element,
      width: element.naturalWidth,
      height: element.naturalHeight,
      seconds: undefined,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** For HEIC, and for videos whose codec the browser lacks. */
async function openAtServer(file: File, alt: string): Promise<OpenedMedia> {
  const body = new FormData();
  body.append('asset', file);
  const response = await fetch('/playground/still', { method: 'POST', body });
  if (!response.ok) throw new Error(await errorMessage(response));
  const facts = JSON.parse(response.headers.get('x-media') ?? '{}') as Pick<Media, 'kind' | 'width' | 'height'> & {
    readonly seconds?: number;
  };
  const url = URL.createObjectURL(await response.blob());
  const element = await openImage(url, alt);
  return { ...facts, seconds: facts.seconds, element, release: () => URL.revokeObjectURL(url) };
}

async function openImage(url: string, alt: string): Promise<HTMLImageElement> {
  const element = new Image();
  element.alt = alt;
  element.src = url;
  await element.decode();
  return element;
}

async function openVideo(url: string, alt: string): Promise<Omit<OpenedMedia, 'release'>> {
  const element = document.createElement('video');
  element.setAttribute('aria-label', alt);
  Object.assign(element, { src: url, muted: true, loop: true, playsInline: true });
  await new Promise<void>((resolve, reject) => {
    element.addEventListener('loadeddata', () => resolve(), { once: true });
    element.addEventListener('error', () => reject(new Error("the browser can't play the video")), { once: true });
  });
  // A file with a sound track only, or with a codec that the browser lacks.
  if (element.videoWidth === 0) throw new Error('the browser shows no frames');
  if (!Number.isFinite(element.duration)) await learnDuration(element);
  // The service drops the last row or column of an odd side.
  const toEven = (side: number): number => Math.max(2, 2 * Math.floor(side / 2));
  const [width, height] = [toEven(element.videoWidth), toEven(element.videoHeight)];
  return { kind: 'video', element, width, height, seconds: element.duration };
}

/** Browser recordings don't contain their duration. Browsers find out when they seek to the end. */
async function learnDuration(element: HTMLVideoElement): Promise<void> {
  element.currentTime = Number.MAX_SAFE_INTEGER;
  await new Promise((resolve) => {
    element.addEventListener('seeked', resolve, { once: true });
    setTimeout(resolve, SEEK_MS);
  });
  if (!Number.isFinite(element.duration)) throw new Error("This browser can't tell how long that video is.");
  element.currentTime = 0;
}

/** Returns a transparent background. A canvas scales like an image and stays empty. */
export function blankCanvas({ width, height }: Size): HTMLCanvasElement {
  const element = document.createElement('canvas');
  Object.assign(element, { width, height, className: 'blank' });
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', `Transparent background, ${width} by ${height} pixels`);
  return element;
}
