// The front page's picture says what the visitor types.

import { find } from './elements.ts';
import { Preview } from './preview.ts';

const POSITION = 66;

const form = find(document, '[data-hero]', HTMLFormElement);
const input = find(form, 'input', HTMLInputElement);
const status = find(form, '[data-hero-status]', HTMLElement);
const frame = find(document, '.hero .frame', HTMLElement);
const overlay = find(frame, '.overlay', HTMLImageElement);
const restingStatus = status.textContent ?? '';

const preview = new Preview({
  shown: ({ png }) => {
    const last = overlay.src;
    overlay.src = URL.createObjectURL(png);
    if (last.startsWith('blob:')) URL.revokeObjectURL(last);
    overlay.hidden = false;
    status.textContent = restingStatus;
  },
  failed: (reason) => {
    status.textContent = reason;
  },
});

form.hidden = false;
form.addEventListener('submit', (event) => event.preventDefault());
input.addEventListener('input', () => {
  const text = input.value.trim();
  if (text === '') {
    preview.cancel();
    overlay.hidden = true;
    return;
  }
  const { width, height } = frame.dataset;
  preview.ask({ width: Number(width), height: Number(height), overlays: [{ text, position: POSITION }] });
});
