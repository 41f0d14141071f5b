export interface AacFormat {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitRate: number;
}

/** The rates AAC knows, up to what every player plays. */
const RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;
const BITS_PER_CHANNEL = 96_000;
/** 5.1 is the largest layout that players agree on; anything odd or larger is mixed down. */
const LAYOUTS = new Set([1, 2, 6]);

/** The AAC that loses least of a sound we cannot copy. */
export function aacFormat(source: { readonly sampleRate: number; readonly channels: number }): AacFormat {
  const sampleRate = RATES.find((rate) => rate >= source.sampleRate) ?? 48_000;
  const channels = LAYOUTS.has(source.channels) ? source.channels : Math.min(source.channels, 2);
  const bitRate = Math.min(channels * BITS_PER_CHANNEL, sampleRate * channels * 4);
  return { sampleRate, channels, bitRate };
}
