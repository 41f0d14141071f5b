// This is a file of its own, because API servers check it in the reports of workers and must not load an image decoder.

/** `kept` means that pixels outside the rows of bars are exactly those of the asset. */
export const SOURCE_PIXELS = ['kept', 'reencoded'] as const;
export type SourcePixels = (typeof SOURCE_PIXELS)[number];
