// Ctrl+Z and similar shortcuts. The browser's own undo covers only text fields and fails when a script changes their
// text.

export function listenToUndoKeys(step: (direction: 'undo' | 'redo') => void): void {
  document.addEventListener('keydown', (event) => {
    const isSecret = event.target instanceof HTMLInputElement && event.target.type === 'password';
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isSecret || (key !== 'z' && key !== 'y')) return;
    event.preventDefault();
    step(key === 'y' || event.shiftKey ? 'redo' : 'undo');
  });
}
