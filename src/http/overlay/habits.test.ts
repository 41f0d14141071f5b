import { expect, it } from 'vitest';
import { Habits } from './habits.ts';

function habitsAt() {
  let now = 0;
  const habits = new Habits(() => now);
  return {
    habits,
    at: (time: number): void => {
      now = time;
    },
    notes: (kind: 'image' | 'video', times: number): void => {
      for (let count = 0; count < times; count += 1) habits.note('a', kind);
    },
  };
}

it('guesses what came often in a row, and nothing of strangers', () => {
  const { habits, notes } = habitsAt();
  notes('image', 19);
  expect(habits.guess('a')).toBeUndefined();
  notes('image', 1);
  expect([habits.guess('a'), habits.guess('b')]).toEqual(['image', undefined]);
});

it('lets one of eight in, so that a change is noticed', () => {
  const { habits, notes } = habitsAt();
  notes('image', 20);
  const guesses = Array.from({ length: 16 }, () => habits.guess('a'));
  expect(guesses.filter((guess) => guess === undefined)).toHaveLength(2);
});

it('forgets with the first of another kind, and after some seconds', () => {
  const { habits, at, notes } = habitsAt();
  notes('image', 100);
  notes('video', 1);
  expect(habits.guess('a')).toBeUndefined();
  notes('video', 19);
  expect(habits.guess('a')).toBe('video');
  at(5_000);
  expect(habits.guess('a')).toBeUndefined();
  notes('video', 1);
  expect(habits.guess('a')).toBeUndefined();
});
