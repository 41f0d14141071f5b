// Looks for captions that follow the voice, each one click away.

interface WordLook {
  readonly name: string;
  /** Values of the fields. */
  readonly fields: Readonly<Record<string, string>>;
}

export const WORD_LOOKS: readonly WordLook[] = [
  { name: 'Box', fields: { preset: 'outline', highlight: 'box', max_words: '4' } },
  { name: 'Pop', fields: { preset: 'outline', highlight: 'pop', case: 'upper', max_words: '3' } },
  { name: 'Color', fields: { preset: 'box', highlight: 'color', max_words: '5' } },
  { name: 'Reveal', fields: { preset: 'plain', highlight: 'reveal', max_words: '6' } },
];
