// The targets that a dragged bar snaps to: the center and the thirds of the image, its edges, and the edges of other
// bars. All numbers are percentages of the height.

export interface BarExtent {
  readonly top: number;
  readonly height: number;
}

export interface SnapTarget {
  /** The position to send. */
  readonly position: number;
  /** The center of the bar at this position. At the edges, the service keeps the whole bar inside. */
  readonly center: number;
  /** The position of the drawn guide. */
  readonly line: number;
  readonly name: string;
}

const THIRD = 100 / 3;

/** Returns targets in order from the top. `others` are the other bars with their numbers. */
export function snapTargets(
  height: number,
  others: readonly (BarExtent & { readonly number: number })[],
): readonly SnapTarget[] {
  const centered = (position: number, name: string): SnapTarget => ({
    position: round(position),
    center: position,
    line: position,
    name,
  });
  const targets = [
    { position: 0, center: height / 2, line: 0, name: 'top edge' },
    { position: 100, center: 100 - height / 2, line: 100, name: 'bottom edge' },
    centered(50, 'center'),
    centered(THIRD, 'upper third'),
    centered(2 * THIRD, 'lower third'),
    ...others.flatMap(({ top, height: otherHeight, number }) => [
      { ...centered(top - height / 2, `above caption ${number}`), line: top },
      { ...centered(top + otherHeight + height / 2, `below caption ${number}`), line: top + otherHeight },
    ]),
  ];
  const fits = ({ center }: SnapTarget): boolean => center >= height / 2 - 0.01 && center <= 100 - height / 2 + 0.01;
  return targets.filter(fits).toSorted((a, b) => a.center - b.center);
}

/** Returns the nearest target within the tolerance. */
export function snapTo(center: number, targets: readonly SnapTarget[], tolerance: number): SnapTarget | undefined {
  const distance = (target: SnapTarget): number => Math.abs(target.center - center);
  const [nearest] = targets.toSorted((a, b) => distance(a) - distance(b));
  return nearest && distance(nearest) <= tolerance ? nearest : undefined;
}

/** Returns the next target above (-1) or below (1), for the keyboard. */
export function nextTarget(center: number, targets: readonly SnapTarget[], direction: -1 | 1): SnapTarget | undefined {
  const isBeyond = (target: SnapTarget): boolean => (target.center - center) * direction > NEXT_STEP;
  return direction === 1 ? targets.find(isBeyond) : targets.findLast(isBeyond);
}

/** The bar is already at targets that are closer than this. */
const NEXT_STEP = 0.2;

/** A thousandth of a percent is less than a pixel on any image, so bars that touch don't overlap. */
function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
