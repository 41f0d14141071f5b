// The slider over an image and its captioned version: captions are shown to the right of it. Without this script, all of them are.

import { find } from './elements.ts';

export function listenToCompare(root: HTMLElement): void {
  const slider = find(root, 'input', HTMLInputElement);
  const show = (): void => {
    root.style.setProperty('--split', `${slider.value}%`);
    slider.setAttribute('aria-valuetext', `${100 - slider.valueAsNumber} percent captioned`);
  };
  slider.disabled = false;
  slider.addEventListener('input', show);
  show();
}
