// A list that shows new entries by itself: while the page is in view, its list is loaded again every few seconds. Older pages and
// lists that a visitor is using with the keyboard stay as they are.

import { find } from './elements.ts';

const EVERY_MS = 5_000;
/** Ten minutes without a visitor's attention, so that a forgotten tab doesn't keep the session alive. */
const MAX_IDLE = 120;
const list = find(document, '[data-refresh]', HTMLElement);
const isNewestPage = !['before', 'after'].some((name) => new URL(location.href).searchParams.has(name));

let idle = 0;
/** As the server sent it. The list in the page may have changed since, for example when a visitor opened a part of it. */
let shown = list.innerHTML;

async function refresh(): Promise<void> {
  idle += 1;
  if (idle > MAX_IDLE || document.hidden || list.contains(document.activeElement)) return;
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!response.ok || response.redirected) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const fresh = page.querySelector('[data-refresh]');
  if (fresh === null || fresh.innerHTML === shown) return;
  shown = fresh.innerHTML;
  list.replaceChildren(...fresh.childNodes);
}

// A request that fails is made again after the next pause.
if (isNewestPage) setInterval(() => void refresh().catch(() => undefined), EVERY_MS);
for (const event of ['pointermove', 'keydown', 'visibilitychange']) {
  document.addEventListener(event, () => {
    idle = 0;
  });
}
