import type { ServerResponse } from 'node:http';

/**
 * Runs the action when the connection closes, or immediately if it is closed already, because Node emits `close` only
 * once.
 */
export function onClosed(response: ServerResponse, action: () => void): void {
  if (response.closed) action();
  else response.once('close', action);
}
