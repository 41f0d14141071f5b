// The visitor's image or video, shown from memory. The browser applies its rotation, so its size is that of the result.

export interface Media {
  readonly kind: 'image' | 'video';
  readonly file: File;
  readonly element: HTMLImageElement | HTMLVideoElement;
  readonly width: number;
  readonly height: number;
  /** The name of the sample. Empty for a file of the visitor. */
  readonly sample: string;
  readonly release: () => void;
}

type OpenedMedia = Omit<Media, 'file' | 'sample' | 'release'>;

const CANNOT_OPEN =
  "This browser can't show that file. Use JPEG, PNG, WebP, AVIF, GIF, MP4, MOV or WebM here. HEIC works in Safari and, everywhere, through the API.";

export async function openMedia(file: File, alt: string, sample = ''): Promise<Media> {
  const url = URL.createObjectURL(file);
  const release = (): void => URL.revokeObjectURL(url);
  try {
    const media = file.type.startsWith('video/') ? await openVideo(url, alt) : await openImage(url, alt);
    return { ...media, file, sample, release };
  } catch (error) {
    release();
    throw error;
  }
}

async function openImage(url: string, alt: string): Promise<OpenedMedia> {
  const element = new Image();
  element.alt = alt;
  element.src = url;
  await element.decode().catch(() => {
    throw new Error(CANNOT_OPEN);
  });
  return { kind: 'image', element, width: element.naturalWidth, height: element.naturalHeight };
}

async function openVideo(url: string, alt: string): Promise<OpenedMedia> {
  const element = document.createElement('video');
  element.setAttribute('aria-label', alt);
  Object.assign(element, { src: url, muted: true, loop: true, playsInline: true });
  await new Promise<void>((resolve, reject) => {
    element.addEventListener('loadeddata', () => resolve(), { once: true });
    element.addEventListener('error', () => reject(new Error(CANNOT_OPEN)), { once: true });
  });
  if (!Number.isFinite(element.duration)) await learnDuration(element);
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) element.play().catch(() => undefined);
  // The service drops the last row or column of an odd side.
  const toEven = (side: number): number => Math.max(2, 2 * Math.floor(side / 2));
  return { kind: 'video', element, width: toEven(element.videoWidth), height: toEven(element.videoHeight) };
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

const SEEK_MS = 5_000;
const CROPPED_TYPES = new Set(['image/jpeg', 'image/png', 'image/webp']);
const JPEG_QUALITY = 0.95;

/** Crops the middle of an image to another aspect ratio, as a file of its own. */
export async function cropImage(media: Media, shape: string): Promise<Media> {
  const { width, height } = fitShape(media, shape);
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width, height });
  const left = Math.floor((media.width - width) / 2);
  const top = Math.floor((media.height - height) / 2);
  canvas.getContext('2d')?.drawImage(media.element, -left, -top);
  const type = CROPPED_TYPES.has(media.file.type) ? media.file.type : 'image/png';
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, JPEG_QUALITY));
  if (blob === null) throw new Error("This browser couldn't crop the image. Use the original shape.");
  const [stem] = media.file.name.split(/\.[^.]*$/u);
  const name = `${stem}-${shape.replace(':', 'x')}.${type === 'image/jpeg' ? 'jpg' : type.slice('image/'.length)}`;
  const { alt } = media.element as HTMLImageElement;
  return await openMedia(new File([blob], name, { type }), alt, media.sample);
}

interface Sides {
  readonly width: number;
  readonly height: number;
}

/** Returns the largest size with this aspect ratio that fits into the media. */
function fitShape({ width, height }: Sides, shape: string): Sides {
  const ratio = ratioOf(shape);
  return width / height > ratio
    ? { width: Math.max(1, Math.round(height * ratio)), height }
    : { width, height: Math.max(1, Math.round(width / ratio)) };
}

/** Returns the size of an overlay without a file: 1,080 pixels on the shorter side, or that of the media. */
export function canvasSize(media: Sides, shape: string): Sides {
  if (shape === '') return { width: media.width, height: media.height };
  const ratio = ratioOf(shape);
  const short = 1_080;
  return ratio < 1
    ? { width: short, height: Math.round(short / ratio) }
    : { width: Math.round(short * ratio), height: short };
}

function ratioOf(shape: string): number {
  const [across = 1, down = 1] = shape.split(':').map(Number);
  return across / down;
}

/** Returns a transparent background. A canvas scales like an image and stays empty. */
export function blankCanvas({ width, height }: Sides): HTMLCanvasElement {
  const element = document.createElement('canvas');
  Object.assign(element, { width, height, className: 'blank' });
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', `Transparent background, ${width} by ${height} pixels`);
  return element;
}
