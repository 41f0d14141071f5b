// Copy buttons: each copies the code beside it.

const SHOW_MS = 1_600;

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', () => {
    const code = button.parentElement?.querySelector('code');
    if (code) void copy(code).then((done) => say(button, done ? 'Copied' : 'Press Ctrl+C'));
  });
}

/** Where the page may not write to the clipboard, the code is selected for the visitor to copy. */
async function copy(code: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(code);
    return false;
  }
}

function say(button: HTMLButtonElement, text: string): void {
  button.textContent = text;
  setTimeout(() => {
    button.textContent = 'Copy';
  }, SHOW_MS);
}
