// Copies a link to the captions and settings.

import { type Draft, toFragment } from './draft.ts';

const FEEDBACK_MS = 2_000;

/** `report` shows a message to the visitor. */
export async function copyLink(
  button: HTMLButtonElement,
  draft: Draft,
  report: (message: string) => void,
): Promise<void> {
  const fragment = toFragment(draft);
  if (fragment === undefined) {
    report('There is too much text for a link.');
    return;
  }
  const link = new URL(`#${fragment}`, location.href);
  try {
    await navigator.clipboard.writeText(link.href);
  } catch {
    // The address bar is the next best place to copy it from.
    history.replaceState(null, '', link);
    report('The link is in the address bar.');
    return;
  }
  const label = button.textContent;
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = label;
  }, FEEDBACK_MS);
}
