// Our own fonts, in the order they are asked. Nothing installed on the host is ever used, so a caption looks the same on
// every machine. Each family is a package with its font files; large ones come in slices that are loaded when needed.

export interface FontFamily {
  readonly id: string;
  readonly packageName: string;
  /** One font file, or the slices that the package's `unicode.json` describes. */
  readonly files: { readonly single: string } | { readonly slice: (subset: string) => string };
}

/** The face of every caption: a neutral grotesque at regular weight. Its capitals are what `layout/style.ts` centres. */
const MAIN: FontFamily = {
  id: 'main',
  packageName: 'inter-ui',
  files: { single: 'web/Inter-Regular.woff2' },
};

export const EMOJI: FontFamily = {
  id: 'emoji',
  packageName: '@expo-google-fonts/noto-color-emoji',
  files: { single: '400Regular/NotoColorEmoji_400Regular.ttf' },
};

/** Letters the main face lacks, with rare combining marks in the same file, so that they attach. */
const LATIN: FontFamily = {
  id: 'latin',
  packageName: '@expo-google-fonts/noto-sans',
  files: { single: '400Regular/NotoSans_400Regular.ttf' },
};

/** Every unified ideograph up to Extension A: the last resort for rare Han characters. */
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
const STATIC_SCRIPTS = ['mongolian', 'nko', 'tifinagh', 'vai', 'yi'];

export const FAMILIES: readonly FontFamily[] = [
  MAIN,
  LATIN,
  // Before the scripts, because the Yi, Mongolian and Lisu fonts bring CJK punctuation of their own.
  ...['sc', 'tc', 'jp', 'kr'].map((region) => sliced(`noto-sans-${region}`)),
  ...SCRIPTS.map((script) => variable(`noto-sans-${script}`, script)),
  variable('noto-serif-tibetan', 'tibetan'),
  ...STATIC_SCRIPTS.map((script) => fixed(`noto-sans-${script}`, script)),
  variable('noto-sans-symbols', 'symbols'),
  fixed('noto-sans-symbols-2', 'symbols'),
  fixed('noto-sans-math', 'latin'),
  HAN,
];

/** The four regional Han families, by the region they are drawn for. */
export const HAN_FAMILIES = { sc: 'noto-sans-sc', tc: 'noto-sans-tc', jp: 'noto-sans-jp', kr: 'noto-sans-kr' } as const;

function variable(name: string, subset: string): FontFamily {
  return {
    id: name,
    packageName: `@fontsource-variable/${name}`,
    files: { single: `files/${name}-${subset}-wght-normal.woff2` },
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
  };
}

function words(text: string): string[] {
  return text.trim().split(/\s+/u);
}
