// Events of videos that several workers share, for logs and metrics.

export type SegmentEvent =
  | {
      readonly type: 'split';
      readonly renderId: string | undefined;
      readonly segments: number;
      readonly workers: number;
    }
  | {
      readonly type: 'unsplit';
      readonly renderId: string | undefined;
      readonly accountId: string | undefined;
      readonly err: unknown;
    }
  | { readonly type: 'hedged'; readonly renderId: string | undefined };
