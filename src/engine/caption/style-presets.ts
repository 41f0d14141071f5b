// The presets of captions. To combine existing parts into a new preset, add one entry here.

/** The surroundings of the letters: a full-width bar, a label that hugs the lines, a dark outline, or a soft shadow. */
export type Surround = 'bar' | 'box' | 'outline' | 'shadow';

interface PresetKind {
  readonly surround: Surround;
  /** `#rrggbb`, or `#rrggbbaa` with transparency. */
  readonly color: string;
  /** Absent where the text lies directly on the photo. */
  readonly background?: string;
  /** The defaults of `size` and `weight`, where they aren't 1 and regular. */
  readonly size?: number;
  readonly weight?: 'bold';
  /** The description in the API reference. */
  readonly description: string;
}

/** Without a bar, letters need more weight to be read as easily. */
const LARGE_AND_BOLD = { size: 1.25, weight: 'bold' } as const;

/** The first one is the default. */
const PRESETS = {
  bar: {
    surround: 'bar',
    color: '#ffffff',
    background: '#00000099',
    description: 'full-width dark bar, white text',
  },
  'bar-light': {
    surround: 'bar',
    color: '#000000',
    background: '#ffffffcc',
    description: 'white bar, black text',
  },
  box: {
    surround: 'box',
    color: '#ffffff',
    background: '#000000',
    ...LARGE_AND_BOLD,
    description: 'rounded dark label around each line, large bold white text',
  },
  'box-light': {
    surround: 'box',
    color: '#000000',
    background: '#ffffff',
    ...LARGE_AND_BOLD,
    description: 'rounded white label around each line, large bold black text',
  },
  outline: {
    surround: 'outline',
    color: '#ffffff',
    ...LARGE_AND_BOLD,
    description: 'dark outline around large bold letters',
  },
  plain: {
    surround: 'shadow',
    color: '#ffffff',
    ...LARGE_AND_BOLD,
    description: 'large bold letters with a soft shadow',
  },
} as const satisfies Readonly<Record<string, PresetKind>>;

export type StylePreset = keyof typeof PRESETS;

export const STYLE_PRESETS = Object.keys(PRESETS) as StylePreset[];
export const DEFAULT_PRESET: StylePreset = 'bar';

/**
 * The presets that existed before accounts could save styles. No account has a style of this name, so a request that uses
 * one needs no lookup. A preset that is added later stays out of this list, because a saved style may have its name
 * already, and then counts.
 */
const UNSAVED_NAMES: ReadonlySet<string> = new Set(['bar', 'bar-light', 'box', 'box-light', 'outline', 'plain']);

export function mayBeSaved(name: string): boolean {
  return !UNSAVED_NAMES.has(name);
}

export function presetOf(name: StylePreset = DEFAULT_PRESET): PresetKind {
  return PRESETS[name];
}
