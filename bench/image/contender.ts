import type { Scene } from './scene.ts';

/** The finished file: its bytes, or where a program wrote it. */
export type Output = Uint8Array | string;

/** One way to put the bars on a picture. */
export interface Contender {
  readonly name: string;
  /** Everything that a service would do once, before the first request, happens here and is not timed. */
  prepare(scene: Scene): Promise<() => Promise<Output>>;
}

/** A peer that cannot take part here, and why. */
export interface Absent {
  readonly name: string;
  readonly absent: string;
}
