// The tags of an ICC color profile (ICC.1:2022). A profile is part of an uploaded file, so nothing in it is trusted.

const HEADER_BYTES = 128;
const TAG_BYTES = 12;
const MAX_TAGS = 100;
const SIGNATURE = 'acsp';
const FIXED_POINT = 65_536;

export class ProfileTags {
  readonly #profile: Buffer;
  readonly #tags: ReadonlyMap<string, Buffer>;

  constructor(profile: Buffer, tags: ReadonlyMap<string, Buffer>) {
    this.#profile = profile;
    this.#tags = tags;
  }

  /** Four characters, such as `RGB ` and `GRAY`. */
  get colorSpace(): string {
    return this.#profile.toString('latin1', 16, 20);
  }

  /** The space that colors are converted to. */
  get connectionSpace(): string {
    return this.#profile.toString('latin1', 20, 24);
  }

  has(name: string): boolean {
    return this.#tags.has(name);
  }

  data(name: string): Buffer | undefined {
    return this.#tags.get(name);
  }

  /** Three numbers of type `XYZ`. */
  numbers(name: string): readonly [number, number, number] | undefined {
    const data = this.#tags.get(name);
    if (data === undefined || data.length < 20 || data.toString('latin1', 0, 4) !== 'XYZ ') return undefined;
    return [data.readInt32BE(8) / FIXED_POINT, data.readInt32BE(12) / FIXED_POINT, data.readInt32BE(16) / FIXED_POINT];
  }
}

/** Returns `undefined` for anything that isn't a complete profile. */
export function readTags(source: Uint8Array): ProfileTags | undefined {
  const profile = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  if (profile.length < HEADER_BYTES + 4 || profile.toString('latin1', 36, 40) !== SIGNATURE) return undefined;
  const count = profile.readUInt32BE(HEADER_BYTES);
  if (count > MAX_TAGS || HEADER_BYTES + 4 + count * TAG_BYTES > profile.length) return undefined;
  const tags = new Map<string, Buffer>();
  for (let index = 0; index < count; index += 1) {
    const at = HEADER_BYTES + 4 + index * TAG_BYTES;
    const start = profile.readUInt32BE(at + 4);
    const end = start + profile.readUInt32BE(at + 8);
    if (end > profile.length) return undefined;
    tags.set(profile.toString('latin1', at, at + 4), profile.subarray(start, end));
  }
  return new ProfileTags(profile, tags);
}
