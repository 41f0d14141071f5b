// Looks for captions that follow the voice, each one click away.

interface WordLook {
  readonly name: string;
  /** Values of the style fields. */
  readonly look: Readonly<Record<string, string>>;
  readonly maxWords: number;
}

export const WORD_LOOKS: readonly WordLook[] = [
  { name: 'Box', look: { preset: 'outline', highlight: 'box' }, maxWords: 4 },
  { name: 'Pop', look: { preset: 'outline', highlight: 'pop', case: 'upper' }, maxWords: 3 },
  { name: 'Color', look: { preset: 'box', highlight: 'color' }, maxWords: 5 },
  { name: 'Reveal', look: { preset: 'plain', highlight: 'reveal' }, maxWords: 6 },
];
