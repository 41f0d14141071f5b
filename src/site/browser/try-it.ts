// The form of the documentation that sends a real request and shows the whole response.

import { find } from './elements.ts';
import { NOT_RENDERING, termsIn } from './playground/payer.ts';
import { RenderPanel } from './playground/render-panel.ts';
import { StateStore } from './playground/store.ts';
import { ResponseView } from './response-view.ts';
import { SAMPLE_NAME, type TryItFields, trySnippets } from './try-it-request.ts';

const root = find(document, '[data-try-it]', HTMLElement);
const { dataset } = root;
const form = find(root, '[data-form]', HTMLFormElement);
const source = find(root, '[data-source]', HTMLSelectElement);
const file = find(root, 'input[type=file]', HTMLInputElement);
const view = new ResponseView(
  find(root, '[data-response]', HTMLElement),
  form,
  (dataset['shownHeaders'] ?? '').split(' '),
);

const panel = new RenderPanel({
  root,
  store: new StateStore(NOT_RENDERING),
  terms: termsIn(dataset),
  work: () => ({ seconds: undefined, file: chosenFile() }),
  form: requestForm,
  onResult: async (response) => await view.show(response),
  onError: async (response) => await view.showError(response),
});

/** The limits of images apply. A video of the visitor is checked by the server. */
function chosenFile(): { readonly bytes: number; readonly seconds: undefined } | undefined {
  const chosen = source.value === 'file' ? file.files?.[0] : undefined;
  return chosen?.type.startsWith('image/') ? { bytes: chosen.size, seconds: undefined } : undefined;
}

function valueOf(name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value : '';
}

function fields(): TryItFields {
  return {
    source: source.value,
    fileName: source.value === 'file' ? (file.files?.[0]?.name ?? SAMPLE_NAME) : SAMPLE_NAME,
    text: valueOf('text'),
    position: valueOf('position'),
    style: valueOf('style'),
    format: valueOf('format'),
    width: valueOf('width'),
    height: valueOf('height'),
  };
}

/** Returns the fields that have a value, with the sample photo unless the visitor chose something else. */
async function requestForm(): Promise<FormData> {
  const request = new FormData();
  for (const [name, value] of new FormData(form)) if (value !== '') request.append(name, value);
  if (source.value === 'sample') {
    const sample = await fetch(dataset['sample'] ?? '');
    if (!sample.ok) throw new Error(`Couldn't load the sample photo (${sample.status}). Try again.`);
    request.append('asset', await sample.blob(), SAMPLE_NAME);
  }
  return request;
}

/** Fields of another source are disabled, so they aren't part of the form. */
function showSource(): void {
  for (const row of form.querySelectorAll<HTMLFieldSetElement>('[data-source-row]')) {
    row.hidden = row.dataset['sourceRow'] !== source.value;
    row.disabled = row.hidden;
  }
}

function showCode(): void {
  const { baseUrl = '', sample = '' } = dataset;
  for (const { id, code } of trySnippets(fields(), baseUrl, `${baseUrl}${sample}`)) {
    const shown = find(root, `[data-language="${id}"] code`, HTMLElement);
    // The server has colored the code, and setting the same text would remove the colors.
    if (shown.textContent !== code) shown.textContent = code;
  }
}

form.addEventListener('input', ({ target }) => {
  showSource();
  showCode();
  view.clearFaults();
  // The panel itself listens to the key field.
  if (!(target instanceof HTMLInputElement) || !target.matches('[data-key]')) panel.update();
});
// Browsers keep the values of fields over a reload.
showSource();
showCode();
