// The sliders of the front page.

import { listenToCompare } from './compare.ts';

for (const root of document.querySelectorAll<HTMLElement>('[data-compare]')) listenToCompare(root);
