// Turns the status of the first request green as soon as the request arrives.

import { find } from './elements.ts';

const POLL_MS = 1_500;
/** Later polls are rarer, because the visitor has probably left. */
const SLOW_POLL_MS = 15_000;
const PATIENCE = 200;

const status = find(document, '[data-first-request]', HTMLElement);
const path = status.dataset['firstRequest'] ?? '';

async function poll(attempt: number): Promise<void> {
  if (status.dataset['state'] === 'delivered') return;
  const response = await fetch(path, { headers: { accept: 'application/json' } }).catch(() => undefined);
  if (response?.ok) {
    const { state, text } = (await response.json()) as { state: string; text: string };
    status.dataset['state'] = state;
    if (status.textContent !== text) status.textContent = text;
    status.className = state === 'delivered' ? 'done' : state === 'rejected' ? 'problem' : 'note';
  }
  setTimeout(() => void poll(attempt + 1), attempt < PATIENCE ? POLL_MS : SLOW_POLL_MS);
}

void poll(0);
