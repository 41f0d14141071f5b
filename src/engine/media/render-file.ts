/** A file that a render needs besides its asset, such as a font. */
export interface RenderFile {
  readonly id: string;
  /** In hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  readonly path: string;
}
