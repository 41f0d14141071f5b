import type { Packet } from 'node-av/lib';

/** One audio track on its way from the source to the output. */
export interface AudioTrack {
  process(packet: Packet): void;
  finish(): void;
  free(): void;
}
