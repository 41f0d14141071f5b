// The arithmetic of the timeline.

export type Side = 'start' | 'end';
type Times = { readonly [End in Side]?: number };

/** A bar that is shown for a shorter time would be hard to see and hard to grab. */
const MIN_SECONDS = 0.1;
const TICK_STEPS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
const MIN_TICK_PIXELS = 56;

/** Returns the times of ticks that are far enough from each other. */
export function ticksOf(seconds: number, pixels: number): number[] {
  const step = TICK_STEPS.find((one) => (one / seconds) * pixels >= MIN_TICK_PIXELS) ?? seconds;
  return Array.from({ length: Math.floor(seconds / step + 0.001) + 1 }, (_, index) => index * step);
}

/** Returns the new time of one end of a caption. At the edge of the video, it has none. */
export function withEnd(
  { start = 0, end }: Times,
  side: Side,
  wanted: number,
  seconds: number,
): { readonly [End in Side]?: number | undefined } {
  const [min, max] = side === 'start' ? [0, (end ?? seconds) - MIN_SECONDS] : [start + MIN_SECONDS, seconds];
  const time = Math.round(Math.min(Math.max(wanted, min), max) * 100) / 100;
  const isAtEdge = side === 'start' ? time <= 0 : time >= seconds;
  return { [side]: isAtEdge ? undefined : time };
}
