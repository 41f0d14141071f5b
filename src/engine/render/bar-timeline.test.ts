import { describe, expect, it } from 'vitest';
import type { ShownTimes } from '../caption/timing-field.ts';
import { fakeMeasurer } from '../../../test/fake-measurer.ts';
import { type Layout, layoutOverlays } from '../layout/layout.ts';
import { BarTimeline } from './bar-timeline.ts';

const CANVAS = { width: 64, height: 640 };

/** Records the drawn bars instead of drawing them. */
function timelineOf(times: readonly ShownTimes[]): { timeline: BarTimeline; drawn: string[] } {
  const overlays = times.map((shown, index) => ({ text: `${index}`, position: index * 10, ...shown }));
  const layout = layoutOverlays(overlays, CANVAS, () => fakeMeasurer);
  const drawn: string[] = [];
  const draw = ({ bars }: Layout) => {
    drawn.push(bars.map(({ text }) => text).join('+'));
    return bars.map(({ top }) => ({ top, width: 2, height: 2, pixels: new Uint8ClampedArray(16) }));
  };
  return { timeline: new BarTimeline(layout, draw), drawn };
}

describe('BarTimeline', () => {
  it('draws each set of bars when its first frame arrives, and returns the same bars for the frames after it', () => {
    const { timeline, drawn } = timelineOf([{}, { start: 1, end: 3 }, { start: 2 }]);
    const bars = [0, 500, 999, 1_000, 1_500, 2_000, 2_999, 3_000, 9_000].map((time) => timeline.at(time));
    expect(drawn).toEqual(['0', '0+1', '0+1+2', '0+2']);
    expect(bars[0]).toBe(bars[2]);
    expect(bars[3]).toBe(bars[4]);
    expect(bars[3]).not.toBe(bars[2]);
    expect(bars.map(({ length }) => length)).toEqual([1, 1, 1, 2, 2, 3, 3, 2, 2]);
  });

  it('draws nothing before it is asked, and only the bars of the frames it is asked for', () => {
    const { timeline, drawn } = timelineOf([{ end: 1 }, { start: 1, end: 2 }, { start: 2 }]);
    expect(drawn).toEqual([]);
    expect(timeline.at(1_500)).toHaveLength(1);
    expect(drawn).toEqual(['1']);
  });

  it('has no bars between two captions', () => {
    const { timeline } = timelineOf([{ end: 1 }, { start: 2 }]);
    expect(timeline.at(1_000)).toEqual([]);
    expect(timeline.at(1_999)).toEqual([]);
    expect(timeline.at(2_000)).toHaveLength(1);
  });
});
