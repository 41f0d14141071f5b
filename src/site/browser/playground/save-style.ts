// Saves the look of the draft as a style of the account.

import { find } from '../elements.ts';
import { errorMessage } from '../problem.ts';
import { type Editor, setField } from './editor.ts';
import type { Account } from './payer.ts';
import { captionFields, type Composed } from './request.ts';

/** The look as the API stores it. One that changes a saved style contains what it changes. */
export function savedStyleOf(state: Composed): Readonly<Record<string, unknown>> {
  const { style = '{}', ...further } = captionFields(state);
  const { preset, ...own } = JSON.parse(style) as Readonly<Record<string, unknown>>;
  const saved = state.account?.styles.find(({ name }) => name === preset)?.style;
  const numbers = Object.entries(further).map(([name, value]) => [name, name === 'safe_area' ? value : Number(value)]);
  return { ...(saved ?? (preset !== undefined && { preset })), ...own, ...Object.fromEntries(numbers) };
}

let isListening = false;

export function saveStyleForm(store: Editor, root: HTMLElement): void {
  if (isListening) return;
  isListening = true;
  const form = find(root, '[data-save-style]', HTMLElement);
  const name = find(form, 'input', HTMLInputElement);
  const note = find(form, '[data-saved]', HTMLElement);
  const save = async (): Promise<void> => {
    const { account } = store.state;
    if (account === undefined) return;
    const sent = savedStyleOf(store.state);
    const response = await fetch(`/playground/account/styles/${encodeURIComponent(name.value)}`, {
      method: 'PUT',
      headers: { 'x-form-token': account.token, 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    });
    if (!response.ok) {
      note.textContent = await errorMessage(response);
      return;
    }
    const saved = (await response.json()) as Account['styles'][number] & { readonly version: number };
    const others = account.styles.filter((one) => one.name !== saved.name);
    store.update({ account: { ...account, styles: [...others, saved] } });
    setField(store, 'preset', saved.name);
    note.textContent = `Saved as version ${saved.version}. Requests use it by its name: style=${saved.name}`;
  };
  find(form, 'button', HTMLButtonElement).addEventListener('click', () => {
    save().catch(() => {
      note.textContent = "Couldn't reach the server. Check your connection and try again.";
    });
  });
}
