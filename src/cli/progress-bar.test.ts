import { expect, it } from 'vitest';
import { progressLine } from './progress-bar.ts';

it.each([
  [{ frames: 0, totalFrames: 300 }, 0, `${'░'.repeat(30)} 0 %  0 fps  0:00 left`],
  [{ frames: 150, totalFrames: 300 }, 5, `${'█'.repeat(15)}${'░'.repeat(15)} 50 %  30 fps  0:05 left`],
  [{ frames: 10, totalFrames: 3_010 }, 1, `${'░'.repeat(30)} 0 %  10 fps  5:00 left`],
  // The header of a file may announce fewer frames than the file has.
  [{ frames: 400, totalFrames: 300 }, 10, `${'█'.repeat(30)} 100 %  40 fps  0:00 left`],
  [{ frames: 5, totalFrames: 0 }, 1, `${'░'.repeat(30)} 0 %  5 fps  0:00 left`],
])('shows %j after %i s', (progress, seconds, line) => {
  expect(progressLine(progress, seconds)).toBe(line);
});
