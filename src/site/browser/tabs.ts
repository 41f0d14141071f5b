// One choice of language for all code on all pages, remembered in the browser.

const STORAGE_KEY = 'storybar-language';

function languageOf(input: HTMLInputElement): string {
  return input.id.slice(input.id.lastIndexOf('-') + 1);
}

function choose(language: string): void {
  for (const input of document.querySelectorAll<HTMLInputElement>('.tabs > input[type=radio]')) {
    if (languageOf(input) === language) input.checked = true;
  }
}

/** Storage can be switched off. Then the choice lasts for this page. */
function remembered(): string | null {
  try {
    return localStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}

function remember(language: string): void {
  try {
    localStorage.setItem(STORAGE_KEY, language);
  } catch {
    // The choice still applies to this page.
  }
}

const language = remembered();
if (language !== null) choose(language);

document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.parentElement?.matches('.tabs') !== true) return;
  remember(languageOf(target));
  choose(languageOf(target));
});
