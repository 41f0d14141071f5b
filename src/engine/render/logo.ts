// The logo of a render: where it goes, and its pixels, which are drawn once for all frames of a video.

import type { Overlay } from '../caption/overlay.ts';
import type { Size } from '../layout/geometry.ts';
import type { Layout } from '../layout/layout.ts';
import { type LogoPlace, placeLogo } from '../layout/logo-place.ts';
import { marginsFor } from '../layout/safe-area.ts';
import { must } from '../../shared/must.ts';
import { type Band, compositeBand } from '../raster/band.ts';
import { type PlanarBand, toPlanarBand } from '../raster/planar.ts';
import type { RecipeOf } from './recipe-schema.ts';

/** A logo as part of a recipe. */
export type RecipeLogo = NonNullable<RecipeOf<'layout'>['logo']>;

/** A logo at the size at which it is shown: straight RGBA, row by row. */
export interface DrawnLogo extends Pick<LogoPlace, 'left' | 'top' | 'width' | 'height'> {
  readonly pixels: Uint8ClampedArray;
}

/** The part of a recipe that decides about its logo. */
interface WithLogo {
  readonly logo?: RecipeLogo;
  readonly overlays: readonly Overlay[];
}

/** Undefined without a logo, and where captions leave no place for it. */
export function logoPlaceOf({ logo, overlays }: WithLogo, { canvas, bars }: Layout): LogoPlace | undefined {
  if (logo === undefined) return undefined;
  const { corner, width: share, margin, pixels } = logo;
  return placeLogo(canvas, { ...pixels, corner, share, margin }, marginsFor(canvas, overlays[0]?.safeArea), bars);
}

export async function drawLogo(
  { logo }: Pick<WithLogo, 'logo'>,
  place: LogoPlace | undefined,
): Promise<DrawnLogo | undefined> {
  if (logo === undefined || place === undefined) return undefined;
  const { left, top, width, height } = place;
  // Loaded on demand, because most renders have no logo.
  const { scaleLogo } = await import('../media/logo.ts');
  const png = Buffer.from(must(logo.png, 'the image of the logo'), 'base64');
  return { left, top, width, height, pixels: await scaleLogo(png, { width, height, opacity: logo.opacity }) };
}

/** The logo is never where captions are, so it doesn't matter what is drawn first. */
export function withLogo(bands: Band[], logo: DrawnLogo | undefined, canvas: Size): Band[] {
  return logo === undefined ? bands : compositeBand(bands, acrossCanvas(logo, canvas.width));
}

/** As rows of the whole canvas, as all bands are. */
function acrossCanvas({ left, top, width: columns, height, pixels }: DrawnLogo, width: number): Band {
  const rows = new Uint8ClampedArray(width * height * 4);
  for (let row = 0; row < height; row += 1) {
    rows.set(pixels.subarray(row * columns * 4, (row + 1) * columns * 4), (row * width + left) * 4);
  }
  return { top, height, width, pixels: rows, ...(left > 0 && { ink: { left, columns } }) };
}

/** For frames of a video, which get only the columns of the logo. */
export function planarLogo({ left, ...band }: DrawnLogo): PlanarBand {
  return { ...toPlanarBand(band), left };
}
