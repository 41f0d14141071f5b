// Renders the visitor's own caption on the front page's image.

import { find } from './elements.ts';
import { Preview, previewSize } from './preview.ts';

const POSITION = 66;

const form = find(document, '[data-hero]', HTMLFormElement);
const input = find(form, 'input', HTMLInputElement);
const status = find(form, '[data-hero-status]', HTMLElement);
const frame = find(document, '.hero .frame', HTMLElement);
const overlay = find(frame, '.overlay', HTMLImageElement);
const idleStatus = status.textContent ?? '';

const preview = new Preview({
  onResult: ({ png }) => {
    const previous = overlay.src;
    overlay.src = URL.createObjectURL(png);
    if (previous.startsWith('blob:')) URL.revokeObjectURL(previous);
    overlay.hidden = false;
    status.textContent = idleStatus;
  },
  onError: (message) => {
    status.textContent = message;
  },
});

input.disabled = false;
form.addEventListener('submit', (event) => event.preventDefault());
input.addEventListener('input', () => {
  const text = input.value.trim();
  if (text === '') {
    preview.cancel();
    overlay.hidden = true;
    return;
  }
  const { width, height, maxSide } = frame.dataset;
  const size = previewSize({ width: Number(width), height: Number(height) }, Number(maxSide));
  preview.request({ ...size, overlays: [{ text, position: POSITION }] });
});
