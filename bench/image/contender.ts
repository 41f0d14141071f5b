import type { Scene } from './scene.ts';

/** The output: its bytes, or the path of the file that a program wrote. */
export type Output = Uint8Array | string;

/** One way to draw the bars on a photo. */
export interface Contender {
  readonly name: string;
  /** True if it starts a program itself, whose processor time isn't known. The others run in a process of their own. */
  readonly isProgram?: true;
  /** Does the work that a service does once, before its first request. This isn't measured. */
  prepare(scene: Scene): Promise<() => Promise<Output>>;
}

/** A peer that isn't available on this machine. */
export interface SkippedPeer {
  readonly name: string;
  readonly reason: string;
}
