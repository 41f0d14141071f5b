// The visitor's image or video, shown from memory. The browser applies its rotation, so its size is that of the result.

export interface Media {
  readonly kind: 'image' | 'video';
  readonly file: File;
  readonly element: HTMLImageElement | HTMLVideoElement;
  readonly width: number;
  readonly height: number;
  readonly release: () => void;
}

const CANNOT_OPEN =
  "This browser can't show that file. Use JPEG, PNG, WebP, AVIF, GIF, MP4, MOV or WebM here. HEIC works in Safari and, everywhere, through the API.";

export async function openMedia(file: File, alt: string): Promise<Media> {
  const url = URL.createObjectURL(file);
  const release = (): void => URL.revokeObjectURL(url);
  try {
    const media = file.type.startsWith('video/') ? await openVideo(url, alt) : await openImage(url, alt);
    return { ...media, file, release };
  } catch (error) {
    release();
    throw error;
  }
}

async function openImage(url: string, alt: string): Promise<Omit<Media, 'file' | 'release'>> {
  const element = new Image();
  element.alt = alt;
  element.src = url;
  await element.decode().catch(() => {
    throw new Error(CANNOT_OPEN);
  });
  return { kind: 'image', element, width: element.naturalWidth, height: element.naturalHeight };
}

async function openVideo(url: string, alt: string): Promise<Omit<Media, 'file' | 'release'>> {
  const element = document.createElement('video');
  element.setAttribute('aria-label', alt);
  Object.assign(element, { src: url, muted: true, loop: true, playsInline: true });
  await new Promise<void>((resolve, reject) => {
    element.addEventListener('loadeddata', () => resolve(), { once: true });
    element.addEventListener('error', () => reject(new Error(CANNOT_OPEN)), { once: true });
  });
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) element.play().catch(() => undefined);
  // The service drops the last row or column of an odd side.
  const toEven = (side: number): number => Math.max(2, 2 * Math.floor(side / 2));
  return { kind: 'video', element, width: toEven(element.videoWidth), height: toEven(element.videoHeight) };
}
