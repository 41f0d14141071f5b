import type { ServerResponse } from 'node:http';

/** When the connection of an answer is over, or at once when it is already: who is gone is announced only once. */
export function onClosed(response: ServerResponse, action: () => void): void {
  if (response.closed) action();
  else response.once('close', action);
}
