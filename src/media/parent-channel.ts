// The other end of a `ManagedProcess`, for the process that was started by one.

import { Socket } from 'node:net';
import { LineChannel } from './line-channel.ts';
import { CHANNEL_FD } from './process.ts';

/** Without a parent there is nobody to work for: `onLost` is where to end. */
export function openParentChannel(onLost: () => void): LineChannel {
  const stream = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  return new LineChannel(stream, { onClose: onLost, onInvalidMessage: onLost });
}
