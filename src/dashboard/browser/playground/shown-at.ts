// Which captions a video shows at a time, by the same rule as the service.

export interface ShownSpan {
  readonly start?: number;
  readonly end?: number;
}

export function isShownAt({ start = 0, end = Number.POSITIVE_INFINITY }: ShownSpan, milliseconds: number): boolean {
  const seconds = milliseconds / 1_000;
  return start <= seconds && seconds < end;
}

const CUE = /^\s*(?<start>[\d:]+[.,]\d{3})\s*-->\s*(?<end>[\d:]+[.,]\d{3})/gmu;

/** The times of SRT or WebVTT cues. The service reads their texts and reports their faults. */
export function cueSpans(subtitles: string): { readonly start: number; readonly end: number }[] {
  return [...subtitles.matchAll(CUE)].map(({ groups = {} }) => ({
    start: secondsOf(groups['start'] ?? ''),
    end: secondsOf(groups['end'] ?? ''),
  }));
}

function secondsOf(time: string): number {
  return time
    .replace(',', '.')
    .split(':')
    .reduce((seconds, part) => seconds * 60 + Number(part), 0);
}
