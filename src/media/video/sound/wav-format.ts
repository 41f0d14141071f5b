// The WAV files that speech recognition gets: 16-bit samples of one channel.

export const SPEECH_RATE = 16_000;
export const BYTES_PER_SAMPLE = 2;
export const WAV_HEADER_BYTES = 44;
