import { describe, expect, it } from 'vitest';
import { SegmentBoard } from './segment-board.ts';

describe('SegmentBoard', () => {
  it('hands out every segment once, and again when it is released', () => {
    const board = new SegmentBoard([300, 300]);
    expect([board.take(0), board.take(0), board.take(0)]).toEqual([0, 1, undefined]);
    board.release(0);
    expect(board.take(5)).toBe(0);
    expect(board.finish(0, 1)).toBe(true);
    board.release(0);
    expect(board.take(5)).toBeUndefined();
    expect(board.isComplete).toBe(false);
    expect(board.finish(1, 1)).toBe(true);
    expect(board.isComplete).toBe(true);
  });

  it('accepts only the first result of a segment', () => {
    const board = new SegmentBoard([300]);
    board.take(0);
    expect([board.finish(0, 1), board.finish(0, 1)]).toEqual([true, false]);
    expect(board.finish(7, 1)).toBe(false);
  });

  it('hands out a segment a second time when it takes twice as long per frame as the others', () => {
    const board = new SegmentBoard([300, 300, 600]);
    for (let segment = 0; segment < 3; segment += 1) board.take(0);
    expect(board.takeSlow(1e9)).toBeUndefined();
    board.finish(0, 3_000);
    expect(board.takeSlow(6_000)).toBeUndefined();
    expect(board.takeSlow(6_001)).toBe(1);
    expect(board.takeSlow(12_000)).toBeUndefined();
    expect(board.takeSlow(12_001)).toBe(2);
    expect(board.takeSlow(1e9)).toBeUndefined();
    board.release(2);
    expect(board.takeSlow(1e9)).toBe(2);
  });

  it('does not consider a segment slow within the first two seconds', () => {
    const board = new SegmentBoard([10, 10]);
    board.take(0);
    board.take(0);
    board.finish(0, 5);
    expect(board.takeSlow(1_999)).toBeUndefined();
    expect(board.takeSlow(2_001)).toBe(1);
  });
});
