// Lossless WebP says in its header whether it uses alpha. The specification calls that a hint that must not change what
// is decoded, and browsers show the alpha either way, but the decoder drops it.

const CHUNK_HEADER_BYTES = 8;
const FIRST_CHUNK = 12;
/** After its signature byte, the bitstream starts with 14 bits each for width and height, then the hint. */
const HINT = 0x10;
const HINT_OFFSET = CHUNK_HEADER_BYTES + 4;

/** Returns a copy that claims to use alpha, or undefined for files that do so already and for every other format. */
export function withAlphaHint(bytes: Uint8Array): Uint8Array | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  for (let at = FIRST_CHUNK; at + HINT_OFFSET < file.length; ) {
    const type = file.toString('latin1', at, at + 4);
    if (type === 'VP8L') {
      const hint = file.readUInt8(at + HINT_OFFSET);
      if ((hint & HINT) !== 0) return undefined;
      const copy = Buffer.from(file);
      copy.writeUInt8(hint | HINT, at + HINT_OFFSET);
      return copy;
    }
    // In a lossy or animated file, alpha is stored elsewhere.
    if (type === 'VP8 ' || type === 'ANMF') return undefined;
    const length = file.readUInt32LE(at + 4);
    at += CHUNK_HEADER_BYTES + length + (length % 2);
  }
  return undefined;
}

/** Returns RGBA without its alpha when every pixel is opaque, and undefined otherwise. */
export function withoutOpaqueAlpha(rgba: Uint8Array): Uint8Array | undefined {
  for (let at = 3; at < rgba.length; at += 4) if (rgba[at] !== 255) return undefined;
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4, to += 3) {
    rgb[to] = rgba[from] ?? 0;
    rgb[to + 1] = rgba[from + 1] ?? 0;
    rgb[to + 2] = rgba[from + 2] ?? 0;
  }
  return rgb;
}
