import { expect, it } from 'vitest';
import { editDistance, nearestName } from './edit-distance.ts';

it.each([
  ['text', 'text', 0],
  ['txet', 'text', 1],
  ['tex', 'text', 1],
  ['captoins', 'captions', 1],
  ['abc', 'xyz', 3],
])('counts the letters to change, add, remove or swap: %s, %s', (a, b, distance) => {
  expect(editDistance(a, b, 4)).toBe(distance);
});

it('the nearest name is the most similar of several, or none', () => {
  const names = ['text', 'overlays', 'captions', 'safe-area'];
  expect(nearestName('txt', names)).toBe('text');
  expect(nearestName('safe', names)).toBe('safe-area');
  expect(nearestName('zzzz', names)).toBeUndefined();
});
