// A button in each password field that shows what was typed, because typing mistakes in a long password are hard to find.

for (const input of document.querySelectorAll<HTMLInputElement>('input[data-password]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'show-password';
  const update = (isShown: boolean): void => {
    input.type = isShown ? 'text' : 'password';
    button.textContent = isShown ? 'Hide' : 'Show';
    button.setAttribute('aria-label', isShown ? 'Hide password' : 'Show password');
  };
  update(false);
  button.addEventListener('click', () => update(input.type === 'password'));
  // Browsers must not remember it as text that was typed.
  input.form?.addEventListener('submit', () => update(false));
  input.after(button);
}
