// The child's end of the channel that a `ManagedProcess` opens.

import { Socket } from 'node:net';
import { LineChannel } from './line-channel.ts';
import { CHANNEL_FD } from './process.ts';

/** `onLost` runs when the parent is gone. A worker has nothing left to do then and should exit. */
export function openParentChannel(onLost: () => void): LineChannel {
  const stream = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  return new LineChannel(stream, { onClose: onLost, onInvalidMessage: onLost });
}
