// The bundled fonts, in order of preference. Fonts installed on the host are never used, so a caption looks the same on
// every machine. Each family is an npm package. Large families come in slices that are loaded on demand.

import type { StoryFont } from '../caption/fonts.ts';

export interface FontFamily {
  readonly id: string;
  readonly packageName: string;
  /** One font file, or slices that the `unicode.json` of the package lists. */
  readonly files: { readonly single: string } | { readonly slice: (subset: string) => string };
  /** The source of bold glyphs: the weight axis of the same files, or another file. Absent where there are none. */
  readonly bold?: 'axis' | { readonly single: string };
}

/** The main font of every caption. `layout/style.ts` centers its capitals vertically. */
const MAIN: FontFamily = {
  id: 'main',
  packageName: 'inter-ui',
  files: { single: 'web/Inter-Regular.woff2' },
  bold: { single: 'web/Inter-Bold.woff2' },
};

export const EMOJI: FontFamily = {
  id: 'emoji',
  packageName: '@expo-google-fonts/noto-color-emoji',
  files: { single: '400Regular/NotoColorEmoji_400Regular.ttf' },
};

/** Letters that the main font lacks, with rare combining marks in the same file, so that the marks attach correctly. */
const LATIN: FontFamily = {
  id: 'latin',
  packageName: '@expo-google-fonts/noto-sans',
  files: { single: '400Regular/NotoSans_400Regular.ttf' },
  bold: { single: '700Bold/NotoSans_700Bold.ttf' },
};

/** The fallback for rare Han characters: all unified ideographs up to Extension A. */
const HAN: FontFamily = {
  id: 'han',
  packageName: '@expo-google-fonts/chocolate-classical-sans',
  files: { single: '400Regular/ChocolateClassicalSans_400Regular.ttf' },
};

const SCRIPTS = words(`
  arabic armenian bengali devanagari ethiopic georgian gujarati gurmukhi hebrew kannada khmer lao malayalam myanmar oriya
  sinhala tamil telugu thaana thai
  adlam balinese bamum canadian-aboriginal cham cherokee hanifi-rohingya javanese kayah-li lisu meetei-mayek new-tai-lue
  ol-chiki sundanese syriac tai-tham
`);
const STATIC_SCRIPTS = words(`
  mongolian nko tifinagh vai yi
  buginese egyptian-hieroglyphs lepcha limbu newa osage runic syloti-nagri tagalog tai-viet warang-citi
`);

const CHAKMA: FontFamily = {
  id: 'noto-sans-chakma',
  packageName: '@expo-google-fonts/noto-sans-chakma',
  files: { single: '400Regular/NotoSansChakma_400Regular.ttf' },
};

export const FAMILIES: readonly FontFamily[] = [
  MAIN,
  LATIN,
  // These come before the other scripts, because the Yi, Mongolian and Lisu fonts also contain CJK punctuation.
  ...['sc', 'tc', 'jp', 'kr'].map((region) => sliced(`noto-sans-${region}`)),
  ...SCRIPTS.map((script) => variable(`noto-sans-${script}`, script)),
  variable('noto-serif-tibetan', 'tibetan'),
  ...STATIC_SCRIPTS.map((script) => fixed(`noto-sans-${script}`, script)),
  CHAKMA,
  variable('noto-serif-np-hmong', 'nyiakeng-puachue-hmong'),
  variable('noto-sans-symbols', 'symbols'),
  fixed('noto-sans-symbols-2', 'symbols'),
  fixed('noto-sans-math', 'latin'),
  fixed('noto-music', 'music'),
  HAN,
];

/** The families that a style can name. A bold one without a file of its own is as heavy as it gets. */
export const STORY_FAMILIES: Readonly<Record<StoryFont, FontFamily>> = {
  montserrat: google('montserrat', 'Montserrat', true),
  poppins: google('poppins', 'Poppins', true),
  anton: google('anton', 'Anton', false),
  'bebas-neue': google('bebas-neue', 'BebasNeue', false),
  oswald: google('oswald', 'Oswald', true),
  'playfair-display': google('playfair-display', 'PlayfairDisplay', true),
  'permanent-marker': google('permanent-marker', 'PermanentMarker', false),
  caveat: google('caveat', 'Caveat', true),
  'courier-prime': google('courier-prime', 'CourierPrime', true),
  bangers: google('bangers', 'Bangers', false),
};

/** The four regional Han families, by region. */
export const HAN_FAMILIES = { sc: 'noto-sans-sc', tc: 'noto-sans-tc', jp: 'noto-sans-jp', kr: 'noto-sans-kr' } as const;

function variable(name: string, subset: string): FontFamily {
  return {
    id: name,
    packageName: `@fontsource-variable/${name}`,
    files: { single: `files/${name}-${subset}-wght-normal.woff2` },
    bold: 'axis',
  };
}

function google(id: StoryFont, name: string, hasBold: boolean): FontFamily {
  return {
    id,
    packageName: `@expo-google-fonts/${id}`,
    files: { single: `400Regular/${name}_400Regular.ttf` },
    ...(hasBold && { bold: { single: `700Bold/${name}_700Bold.ttf` } }),
  };
}

function fixed(name: string, subset: string): FontFamily {
  return {
    id: name,
    packageName: `@fontsource/${name}`,
    files: { single: `files/${name}-${subset}-400-normal.woff2` },
  };
}

function sliced(name: string): FontFamily {
  return {
    id: name,
    packageName: `@fontsource-variable/${name}`,
    files: { slice: (subset) => `files/${name}-${subset}-wght-normal.woff2` },
    bold: 'axis',
  };
}

function words(text: string): string[] {
  return text.trim().split(/\s+/u);
}
