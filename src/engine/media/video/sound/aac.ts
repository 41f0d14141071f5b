export interface AacFormat {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitRate: number;
}

/** The sample rates of AAC, up to the highest that all players support. */
const SAMPLE_RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;
const BIT_RATE_PER_CHANNEL = 96_000;
/** Mono, stereo and 5.1. Everything else is mixed down, because players disagree about other layouts. */
const CHANNEL_COUNTS = new Set([1, 2, 6]);

/** Returns the AAC format that loses the least of audio that can't be copied. */
export function aacFormat(source: { readonly sampleRate: number; readonly channels: number }): AacFormat {
  const sampleRate = SAMPLE_RATES.find((rate) => rate >= source.sampleRate) ?? 48_000;
  const channels = CHANNEL_COUNTS.has(source.channels) ? source.channels : Math.min(source.channels, 2);
  const bitRate = Math.min(channels * BIT_RATE_PER_CHANNEL, sampleRate * channels * 4);
  return { sampleRate, channels, bitRate };
}
