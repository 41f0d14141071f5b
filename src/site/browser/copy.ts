// Copy buttons, each next to a block of code.

const FEEDBACK_MS = 1_600;
const COPY_SHORTCUT = navigator.userAgent.includes('Mac OS') ? 'Cmd+C' : 'Ctrl+C';

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', () => {
    const code = button.parentElement?.querySelector('code');
    if (code) void copy(code).then((done) => showFeedback(button, done ? 'Copied' : `Press ${COPY_SHORTCUT}`));
  });
}

/** Selects the code for manual copying if the browser doesn't allow clipboard access. */
async function copy(code: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(code);
    return false;
  }
}

function showFeedback(button: HTMLButtonElement, text: string): void {
  button.textContent = text;
  setTimeout(() => {
    button.textContent = 'Copy';
  }, FEEDBACK_MS);
}
