// Plays the clip of the front page while it is visible, unless the visitor prefers less motion.

import { find } from './elements.ts';

const video = find(document, '[data-clip]', HTMLVideoElement);

if (!matchMedia('(prefers-reduced-motion: reduce)').matches) {
  new IntersectionObserver(([entry]) => {
    // The browser may refuse to play, for example to save data. The controls still work then.
    if (entry?.isIntersecting) video.play().catch(() => undefined);
    else video.pause();
  }).observe(video);
}
