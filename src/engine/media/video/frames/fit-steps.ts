// The filters that bring an upright frame to the size of `fit`.

import type { Fit } from '../../../caption/fit.ts';
import { placeInto, type FramePart } from '../../../layout/fit.ts';
import type { Size } from '../../../layout/geometry.ts';
import { BLUR_BRIGHTNESS, BLUR_SIGMA, smallCopyOf } from '../../surround.ts';
import { FINAL_FORMAT, type FilterStep } from './steps.ts';

/**
 * The encoder spends most bits where a frame is smooth, which a blurred copy doesn't need: this saves a fifth of the file.
 * From about twice this value on, blocks become visible.
 */
const COPY_QUANTIZER = 0.1;

export function fitSteps(frame: Size, fit: Fit): readonly FilterStep[] {
  const { source, target } = placeInto(frame, fit, fit.mode, 2);
  const asset = [...cropSteps(source, frame), ...scaleSteps(source, target)];
  if (isSameSize(target, fit)) return [...asset, FINAL_FORMAT];
  if (fit.mode === 'blur') return [...blurSteps(frame, fit, asset, target), FINAL_FORMAT];
  const place = `w=${fit.width}:h=${fit.height}:x=${target.left}:y=${target.top}`;
  return [...asset, { filter: 'pad', args: `${place}:color=0x${fit.color.slice(1)}` }, FINAL_FORMAT];
}

/**
 * Puts the asset between two strips of a small, blurred copy. The asset touches two sides of the canvas, so nothing lies
 * behind it and nothing has to be blended.
 */
function blurSteps(frame: Size, canvas: Size, asset: readonly FilterStep[], target: FramePart): readonly FilterStep[] {
  const strips = stripsBeside(target, canvas);
  const small = smallCopyOf(canvas);
  const darker = (center: number): string => `${center}+(val-${center})*${BLUR_BRIGHTNESS}`;
  const copy: readonly FilterStep[] = [
    ...cropSteps(placeInto(frame, canvas, 'crop', 2).source, frame),
    // Every pixel of the frame counts, or details would flicker from frame to frame.
    { filter: 'scale', args: `w=${small.width}:h=${small.height}:flags=area` },
    { filter: 'format', args: 'pix_fmts=yuv444p' },
    { filter: 'gblur', args: `sigma=${BLUR_SIGMA}:steps=2` },
    { filter: 'lutyuv', args: `y=${darker(16)}:u=${darker(128)}:v=${darker(128)}` },
    { filter: 'split', args: `outputs=${strips.length}`, name: 'copy' },
  ];
  const cut = strips.flatMap(({ name, left, top, width, height }): FilterStep[] => {
    const part = scaled({ left, top, width, height }, small.width / canvas.width, small.height / canvas.height);
    return [
      { filter: 'crop', args: cropArguments(part), from: ['copy'] },
      // The blur leaves nothing that a better filter would show: the two differ by less than half a level of brightness.
      { filter: 'scale', args: `w=${width}:h=${height}:flags=bilinear` },
      { filter: 'format', args: 'pix_fmts=yuv420p', name },
    ];
  });
  const parts = ['before', 'asset', 'after'].filter((name) => name === 'asset' || strips.some((s) => s.name === name));
  const stack = target.width === canvas.width ? 'vstack' : 'hstack';
  return [
    { filter: 'split', args: 'outputs=2', name: 'frame' },
    ...copy,
    ...cut,
    { filter: 'null', args: '', from: ['frame'] },
    ...asset,
    { filter: 'null', args: '', name: 'asset' },
    { filter: stack, args: `inputs=${parts.length}`, from: parts },
    ...strips.map(({ left, top, width, height }) => ({
      filter: 'addroi',
      args: `x=${left}:y=${top}:w=${width}:h=${height}:qoffset=${COPY_QUANTIZER}`,
    })),
  ];
}

/** The parts of the canvas above and below the asset, or on its left and right. */
function stripsBeside(target: FramePart, canvas: Size): readonly (FramePart & { readonly name: string })[] {
  const { left, top, width, height } = target;
  const [right, bottom] = [left + width, top + height];
  const strips =
    width === canvas.width
      ? [
          { name: 'before', left: 0, top: 0, width, height: top },
          { name: 'after', left: 0, top: bottom, width, height: canvas.height - bottom },
        ]
      : [
          { name: 'before', left: 0, top: 0, width: left, height },
          { name: 'after', left: right, top: 0, width: canvas.width - right, height },
        ];
  return strips.filter((strip) => strip.width > 0 && strip.height > 0);
}

/** The same part of a smaller copy, at least two pixels wide and high. */
function scaled({ left, top, width, height }: FramePart, across: number, down: number): FramePart {
  const side = (length: number, scale: number): number => Math.max(2, Math.round(length * scale));
  const start = (offset: number, scale: number): number => Math.floor(offset * scale);
  return {
    left: start(left, across),
    top: start(top, down),
    width: side(width, across),
    height: side(height, down),
  };
}

function cropSteps(part: FramePart, frame: Size): readonly FilterStep[] {
  return isSameSize(part, frame) ? [] : [{ filter: 'crop', args: cropArguments(part) }];
}

function cropArguments({ left, top, width, height }: FramePart): string {
  return `w=${width}:h=${height}:x=${left}:y=${top}:exact=1`;
}

function scaleSteps(from: Size, to: Size): readonly FilterStep[] {
  return isSameSize(from, to) ? [] : [{ filter: 'scale', args: `w=${to.width}:h=${to.height}:flags=lanczos` }];
}

function isSameSize(one: Size, other: Size): boolean {
  return one.width === other.width && one.height === other.height;
}
