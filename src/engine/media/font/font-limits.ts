const SIGNATURES = new Set(['\0\u0001\0\0', 'true', 'OTTO', 'wOF2', 'wOFF', 'ttcf']);

/** Tells from its first bytes whether a file may be a font. Workers refuse some of these, and say why. */
export function isFontFile(head: Buffer): boolean {
  return SIGNATURES.has(head.toString('latin1', 0, 4));
}

/** The largest font that can be uploaded, and the largest that is stored. */
export const MAX_FONT_BYTES = 8 * 1024 * 1024;
export const MAX_STORED_FONT_BYTES = 24 * 1024 * 1024;
