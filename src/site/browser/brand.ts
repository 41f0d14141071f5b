// The pages of a brand: draws the preview of a style while it is edited, and uploads logos and fonts.

import { find } from './elements.ts';

const PAUSE_MS = 300;

function watchStyle(editor: HTMLElement): void {
  const form = find(editor, 'form', HTMLFormElement);
  const image = find(editor, '[data-preview]', HTMLImageElement);
  const note = find(editor, '[data-preview-note]', HTMLElement);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = 0;
  const draw = async (): Promise<void> => {
    latest += 1;
    const asked = latest;
    const fields = [...new FormData(form)].filter(
      (field): field is [string, string] => typeof field[1] === 'string' && field[0] !== 'token' && field[0] !== 'name',
    );
    const url = `${editor.dataset['styleEditor'] ?? ''}?${new URLSearchParams(fields).toString()}`;
    const response = await fetch(url, { headers: { accept: 'application/json' } }).catch(() => undefined);
    if (asked !== latest) return;
    if (response?.ok) {
      const drawn = URL.createObjectURL(await response.blob());
      const before = image.src;
      image.src = drawn;
      if (before.startsWith('blob:')) URL.revokeObjectURL(before);
      note.textContent = '';
    } else {
      note.textContent = await detailOf(response, 'The preview could not be drawn.');
    }
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void draw(), PAUSE_MS);
  });
}

function watchUpload(form: HTMLFormElement): void {
  const problem = find(form, '[data-upload-problem]', HTMLElement);
  const button = find(form, 'button', HTMLButtonElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void upload();
  });
  const upload = async (): Promise<void> => {
    const token = find(form, 'input[name=token]', HTMLInputElement).value;
    const body = new FormData(form);
    body.delete('token');
    button.disabled = true;
    const path = form.dataset['upload'] ?? '';
    const headers = { 'x-form-token': token, accept: 'application/json' };
    const response = await fetch(path, { method: 'POST', headers, body }).catch(() => undefined);
    button.disabled = false;
    if (response?.ok) {
      location.assign(form.dataset['done'] ?? '');
      return;
    }
    problem.textContent = await detailOf(response, 'The upload failed. Check your connection and try again.');
    problem.hidden = false;
  };
}

async function detailOf(response: Response | undefined, fallback: string): Promise<string> {
  if (response?.headers.get('content-type')?.includes('json') !== true) return fallback;
  const { detail } = (await response.json()) as { detail?: unknown };
  return typeof detail === 'string' ? detail : fallback;
}

for (const editor of document.querySelectorAll<HTMLElement>('[data-style-editor]')) watchStyle(editor);
for (const form of document.querySelectorAll<HTMLFormElement>('[data-upload]')) watchUpload(form);
