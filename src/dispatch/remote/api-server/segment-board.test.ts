import { describe, expect, it } from 'vitest';
import { SegmentBoard } from './segment-board.ts';

describe('the board of segments', () => {
  it('gives every segment out once, and again when it comes back', () => {
    const board = new SegmentBoard([300, 300]);
    expect([board.take(0), board.take(0), board.take(0)]).toEqual([0, 1, undefined]);
    board.giveBack(0);
    expect(board.take(5)).toBe(0);
    expect(board.finish(0, 1)).toBe(true);
    board.giveBack(0);
    expect(board.take(5)).toBeUndefined();
    expect(board.isComplete).toBe(false);
    expect(board.finish(1, 1)).toBe(true);
    expect(board.isComplete).toBe(true);
  });

  it('takes the first result and no other', () => {
    const board = new SegmentBoard([300]);
    board.take(0);
    expect([board.finish(0, 1), board.finish(0, 1)]).toEqual([true, false]);
    expect(board.finish(7, 1)).toBe(false);
  });

  it('calls slow what takes twice as long as the others, frame for frame, and only once at a time', () => {
    const board = new SegmentBoard([300, 300, 600]);
    for (let segment = 0; segment < 3; segment += 1) board.take(0);
    expect(board.takeSlow(1e9)).toBeUndefined();
    board.finish(0, 3_000);
    expect(board.takeSlow(6_000)).toBeUndefined();
    expect(board.takeSlow(6_001)).toBe(1);
    expect(board.takeSlow(12_000)).toBeUndefined();
    expect(board.takeSlow(12_001)).toBe(2);
    expect(board.takeSlow(1e9)).toBeUndefined();
    board.giveBack(2);
    expect(board.takeSlow(1e9)).toBe(2);
  });

  it('suspects nobody of being slow within two seconds', () => {
    const board = new SegmentBoard([10, 10]);
    board.take(0);
    board.take(0);
    board.finish(0, 5);
    expect(board.takeSlow(1_999)).toBeUndefined();
    expect(board.takeSlow(2_001)).toBe(1);
  });
});
