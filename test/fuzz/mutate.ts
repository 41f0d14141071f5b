// Changes an input a little: flipped bits, other numbers, removed, repeated and inserted bytes, words of the dictionary, and
// parts of other inputs.

type Random = () => number;

/** Values at the limits of numbers of one, two and four bytes. */
const LIMITS = [0, 1, 2, 7, 8, 16, 63, 64, 127, 128, 255, 256, 32_767, 65_535, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
const MAX_CHANGES = 6;
const MAX_RUN = 64;

export class Mutator {
  readonly #random: Random;
  readonly #maxBytes: number;
  readonly #words: readonly Buffer[];

  constructor(random: Random, maxBytes: number, literals: readonly (string | number)[]) {
    this.#random = random;
    this.#maxBytes = maxBytes;
    this.#words = literals.flatMap(wordsOf).filter((word) => word.length > 0 && word.length <= MAX_RUN);
  }

  mutate(input: Buffer, other: Buffer): Buffer {
    let changed: Buffer = Buffer.from(input);
    for (let left = 1 + this.#below(MAX_CHANGES); left > 0; left -= 1) changed = this.#change(changed, other);
    return changed.subarray(0, this.#maxBytes);
  }

  #change(input: Buffer, other: Buffer): Buffer {
    const at = this.#below(input.length + 1);
    const length = 1 + this.#below(Math.min(MAX_RUN, Math.max(1, input.length - at)));
    switch (this.#below(9)) {
      case 0:
        return this.#flip(input, at);
      case 1:
        return this.#overwrite(input, at, this.#number());
      case 2:
        return Buffer.concat([input.subarray(0, at), input.subarray(at + length)]);
      case 3:
        return Buffer.concat([input.subarray(0, at + length), input.subarray(at)]);
      case 4:
        return Buffer.concat([input.subarray(0, at), this.#bytes(length), input.subarray(at)]);
      case 5:
        return this.#overwrite(input, at, this.#word());
      case 6:
        return Buffer.concat([input.subarray(0, at), this.#word(), input.subarray(at)]);
      case 7:
        return Buffer.concat([input.subarray(0, at), other.subarray(this.#below(other.length + 1))]);
      default:
        return this.#overwrite(input, at, other.subarray(this.#below(other.length + 1)).subarray(0, length));
    }
  }

  #flip(input: Buffer, at: number): Buffer {
    const value = input[at];
    if (value !== undefined) input[at] = value ^ (1 << this.#below(8));
    return input;
  }

  #overwrite(input: Buffer, at: number, bytes: Buffer): Buffer {
    bytes.copy(input, at);
    return input;
  }

  #number(): Buffer {
    const value = this.#pick(LIMITS) ?? 0;
    return this.#pick(numbersOf(value)) ?? Buffer.of(0);
  }

  #word(): Buffer {
    return this.#pick(this.#words) ?? this.#number();
  }

  #bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#below(256)));
  }

  #pick<Value>(values: readonly Value[]): Value | undefined {
    return values[this.#below(values.length)];
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

function wordsOf(literal: string | number): Buffer[] {
  if (typeof literal === 'string') return [Buffer.from(literal)];
  return Number.isInteger(literal) && literal >= 0 && literal < 2 ** 32 ? numbersOf(literal) : [];
}

/** A number in each size that it fits in, in both byte orders, and as text. */
function numbersOf(value: number): Buffer[] {
  const numbers = [Buffer.from(String(value))];
  for (const size of [1, 2, 4]) {
    if (value >= 2 ** (8 * size)) continue;
    const bytes = Buffer.alloc(size);
    bytes.writeUIntBE(value, 0, size);
    numbers.push(bytes, Buffer.from(bytes.toReversed()));
  }
  return numbers;
}
