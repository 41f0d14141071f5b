// The fonts that a style can name. Letters that one lacks come from the default font and its fallbacks.

export const DEFAULT_FONT = 'inter';

export const FONT_NAMES = [
  DEFAULT_FONT,
  'montserrat',
  'poppins',
  'anton',
  'bebas-neue',
  'oswald',
  'playfair-display',
  'permanent-marker',
  'caveat',
  'courier-prime',
  'bangers',
] as const;

export type FontName = (typeof FONT_NAMES)[number];
/** A font besides the default one. */
export type StoryFont = Exclude<FontName, typeof DEFAULT_FONT>;
