// A list that shows new entries by itself: while the page is in view, its list is loaded again every few seconds. Older pages and
// lists that a visitor is using with the keyboard stay as they are.

import { find } from './elements.ts';

const EVERY_MS = 5_000;
/** Ten minutes without a visitor's attention, so that a forgotten tab doesn't keep the session alive. */
const MAX_IDLE = 120;
const list = find(document, '[data-refresh]', HTMLElement);
const isNewestPage = !new URL(location.href).searchParams.has('before');

let idle = 0;

async function refresh(): Promise<void> {
  idle += 1;
  if (idle > MAX_IDLE || document.hidden || list.contains(document.activeElement)) return;
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!response.ok || response.redirected) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const fresh = page.querySelector('[data-refresh]');
  if (fresh !== null && fresh.innerHTML !== list.innerHTML) list.replaceChildren(...fresh.childNodes);
}

// A request that fails is made again after the next pause.
if (isNewestPage) setInterval(() => void refresh().catch(() => undefined), EVERY_MS);
for (const event of ['pointermove', 'keydown', 'visibilitychange']) {
  document.addEventListener(event, () => {
    idle = 0;
  });
}
