// The WAV files that speech recognition gets: 16-bit samples of one channel.

export const SPEECH_RATE = 16_000;
export const BYTES_PER_SAMPLE = 2;
export const WAV_HEADER_BYTES = 44;

/** Sound is measured in windows of a tenth of a second. */
const WINDOWS_PER_SECOND = 10;
export const WINDOW_SAMPLES: number = SPEECH_RATE / WINDOWS_PER_SECOND;

/** The number of windows of a sound of this length. */
export function windowsIn(seconds: number): number {
  return Math.ceil(Math.ceil(seconds * SPEECH_RATE) / WINDOW_SAMPLES);
}
