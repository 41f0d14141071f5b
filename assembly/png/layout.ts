// The layout of linear memory. The sizes are fixed, so the memory never grows: an image is encoded in strips, and each
// strip becomes one deflate block.

/** The largest side of an image is 65,535 pixels, with four bytes each. */
const MAX_ROW: usize = 65_535 * 4;
/** Loads of 16 bytes may read past the end of a row. */
const SLACK: usize = 64;

/** The maximum number of pixel bytes in a strip. More than one row always fits. */
export const STRIP_CAPACITY: i32 = 1_536 * 1_024;

/** The symbols are literals, end of block and match lengths. */
export const SYMBOLS: i32 = 286;
/** Short enough for the codes of two literals and their total length to fit into one 32-bit entry of `PAIRS`. */
export const MAX_BITS: i32 = 13;

export const CODE_SHIFT: i32 = 6;

const TABLE: usize = 2_048;
export const COUNTS: usize = 1_024;
export const SORTED: usize = COUNTS + TABLE;
export const WEIGHTS: usize = SORTED + TABLE;
export const PARENTS: usize = WEIGHTS + 2 * TABLE;
export const DEPTHS: usize = PARENTS + 2 * TABLE;
/** The code length of each symbol. */
export const LENGTHS: usize = DEPTHS + 2 * TABLE;
/** The code of each symbol, with its bits in the order of the stream. */
export const CODES: usize = LENGTHS + TABLE;
/** One entry per literal, in the format of `PAIRS`, and the factor that shifts a code behind it. */
export const SINGLES: usize = CODES + TABLE;
export const SHIFTS: usize = SINGLES + TABLE;
/** One entry per match length: code, extra bits and the distance, in the format of `PAIRS`. */
export const MATCHES: usize = SHIFTS + TABLE;
/** One entry per two literals: the number of bits in the lowest six bits, and above them up to 26 bits of code. */
export const PAIRS: usize = MATCHES + TABLE;
/** The filtered row, directly after its filter type. */
export const ROW: usize = PAIRS + 4 * 65_536 + 16;
/** The last row of the strip above, directly followed by the strip. */
export const ABOVE: usize = ROW + MAX_ROW + SLACK;
/** The compressed strip: in the worst case, a code of `MAX_BITS` for every byte, and the header of the block. */
export const OUTPUT: usize = ABOVE + MAX_ROW + STRIP_CAPACITY + SLACK;
const OUTPUT_CAPACITY: usize = ((STRIP_CAPACITY + 65_536) * MAX_BITS) / 8 + 1_024;

export const MEMORY_BYTES: usize = OUTPUT + OUTPUT_CAPACITY;
