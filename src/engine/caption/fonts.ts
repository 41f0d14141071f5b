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
/** A bundled font besides the default one. */
export type StoryFont = Exclude<FontName, typeof DEFAULT_FONT>;

/** The id of a font that an account uploaded. It is random, so it is also the name that only this account's renders know. */
export const OWN_FONT_PATTERN = '^font_[0-9a-zA-Z]{16,40}$';
const OWN_FONT = new RegExp(OWN_FONT_PATTERN, 'u');

export function isOwnFont(name: string): boolean {
  return OWN_FONT.test(name);
}

export function isStoryFont(name: string): name is StoryFont {
  return name !== DEFAULT_FONT && FONT_NAMES.some((known) => known === name);
}
