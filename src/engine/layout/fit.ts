// Where an asset goes in a canvas of another size. Pure numbers, for images and videos.

import { type Fit, type FitMode, MAX_ENLARGEMENT, SOFT_ENLARGEMENT } from '../caption/fit.ts';
import { AppError } from '../../shared/errors.ts';
import type { Size } from './geometry.ts';

export interface FramePart extends Size {
  readonly left: number;
  readonly top: number;
}

export interface FitPlacement {
  /** The part of the asset that is shown. */
  readonly source: FramePart;
  /** The part of the canvas that shows it. */
  readonly target: FramePart;
}

/** Sizes are rounded, so a smaller difference between two aspect ratios is unintended. Then the asset is stretched. */
const ASPECT_TOLERANCE = 0.005;

/** `step` is 2 for videos, whose colors have half the resolution, and otherwise 1. */
export function placeInto(asset: Size, canvas: Size, mode: FitMode, step: 1 | 2 = 1): FitPlacement {
  const all = { source: within(asset, asset, step), target: within(canvas, canvas, step) };
  if (Math.abs((asset.width * canvas.height) / (asset.height * canvas.width) - 1) < ASPECT_TOLERANCE) return all;
  if (mode === 'crop') return { ...all, source: within(contained(canvas, asset), asset, step) };
  return { ...all, target: within(contained(asset, canvas), canvas, step) };
}

/** Refuses an asset that would be enlarged too much. Returns whether it looks soft. */
export function assertEnlargement(asset: Size, fit: Fit): boolean {
  const { source, target } = placeInto(asset, fit, fit.mode);
  const factor = Math.max(target.width / source.width, target.height / source.height);
  if (factor <= MAX_ENLARGEMENT) return factor > SOFT_ENLARGEMENT;
  const detail =
    `A ${fit.width}x${fit.height} file would enlarge the ${asset.width}x${asset.height} asset ${factor.toFixed(1)} times; ` +
    `the limit is ${MAX_ENLARGEMENT}. Send a larger asset, or a smaller width and height.`;
  throw new AppError('invalid_fields', detail, { faults: [{ pointer: '#/fit', code: 'out_of_range', detail }] });
}

/** Returns the largest size with the aspect ratio of `shape` inside `frame`. */
function contained(shape: Size, frame: Size): Size {
  const scale = Math.min(frame.width / shape.width, frame.height / shape.height);
  return { width: shape.width * scale, height: shape.height * scale };
}

/** Returns a rectangle of about this size in the middle of the frame. */
function within(size: Size, frame: Size, step: number): FramePart {
  const rounded = (side: number, most: number): number =>
    Math.min(most, Math.max(step, step * Math.round(side / step)));
  const [width, height] = [rounded(size.width, frame.width), rounded(size.height, frame.height)];
  const offset = (rest: number): number => step * Math.floor(rest / 2 / step);
  return { left: offset(frame.width - width), top: offset(frame.height - height), width, height };
}
