// The place of a logo: in its corner, inside the safe area, and moved along its edge where captions are.

import type { LogoCorner } from '../caption/logo.ts';
import type { Margins } from '../caption/safe-area.ts';
import type { Size } from './geometry.ts';

/** The size of the logo as it is stored, and what the request says about its place. */
export interface LogoShape extends Size {
  readonly corner: LogoCorner;
  /** In percent of the width of the canvas, like `margin`. */
  readonly share: number;
  readonly margin: number;
}

/** The rows and columns of a caption. */
interface CaptionBox {
  readonly top: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
}

export interface LogoPlace extends Size {
  readonly left: number;
  readonly top: number;
  readonly isMoved: boolean;
}

/** A tall logo takes up at most this share of the height, and a margin at most this share of the shorter side. */
const MAX_HEIGHT_SHARE = 0.5;
const MAX_MARGIN_SHARE = 0.25;

/**
 * A logo that would cover a caption moves up or down its edge to the nearest free place, where it keeps its margin to the
 * caption, too. `captions` are those of all times, so that it never jumps. Returns undefined if they leave no place at the edge.
 */
export function placeLogo(
  canvas: Size,
  logo: LogoShape,
  safe: Margins,
  captions: readonly CaptionBox[],
): LogoPlace | undefined {
  const area = { width: canvas.width - safe.left - safe.right, height: canvas.height - safe.top - safe.bottom };
  const margin = Math.round(
    Math.min((logo.margin / 100) * canvas.width, MAX_MARGIN_SHARE * Math.min(area.width, area.height)),
  );
  const size = sizeOf(canvas, logo, { width: area.width - 2 * margin, height: area.height - 2 * margin });
  const room = {
    left: safe.left + margin,
    right: canvas.width - safe.right - margin - size.width,
    top: safe.top + margin,
    bottom: canvas.height - safe.bottom - margin - size.height,
  };
  const side = logo.corner.endsWith('left') ? room.left : room.right;
  // Frames of a video store colors for pairs of columns.
  const left = side - (side % 2);
  const isTop = logo.corner.startsWith('top');
  const beside = captions.filter((box) => box.left < left + size.width && left < box.right);
  let top = isTop ? room.top : room.bottom;
  for (let moves = 0; moves <= beside.length; moves += 1) {
    const at = top;
    if (at < room.top || at > room.bottom) return undefined;
    const hit = beside.find((box) => box.top < at + size.height && at < box.top + box.height);
    if (hit === undefined) return { ...size, left, top, isMoved: moves > 0 };
    top = isTop ? hit.top + hit.height + margin : hit.top - size.height - margin;
  }
  return undefined;
}

/** In whole pixels, with the shape of the logo. */
function sizeOf(canvas: Size, { width, height, share }: LogoShape, room: Size): Size {
  const scale = Math.min(
    ((share / 100) * canvas.width) / width,
    room.width / width,
    Math.min(room.height, MAX_HEIGHT_SHARE * canvas.height) / height,
  );
  return {
    width: Math.max(1, Math.min(room.width, Math.round(width * scale))),
    height: Math.max(1, Math.min(room.height, Math.round(height * scale))),
  };
}
