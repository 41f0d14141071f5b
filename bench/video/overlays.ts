import type { Overlay } from '../../src/caption/overlay.ts';

export const OVERLAYS: readonly Overlay[] = [
  { text: 'When the deploy goes out on Friday 🚀', position: 20 },
  { text: 'and nobody is on call', position: 50 },
  { text: 'good luck everyone', position: 80 },
];
