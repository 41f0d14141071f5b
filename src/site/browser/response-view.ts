// The response to a request from the documentation: its status, its headers, and the image or the error.

import { find } from './elements.ts';
import { extensionOf, headerRows } from './playground/result.ts';

interface ProblemJson {
  readonly code?: unknown;
  readonly errors?: unknown;
}

export class ResponseView {
  readonly #root: HTMLElement;
  readonly #form: HTMLFormElement;
  readonly #headers: readonly string[];
  #url = '';

  /** `form` has the fields that an error can refer to. `headers` are the names of those to show. */
  constructor(root: HTMLElement, form: HTMLFormElement, headers: readonly string[]) {
    this.#root = root;
    this.#form = form;
    this.#headers = headers;
  }

  async show(response: Response): Promise<void> {
    const blob = await response.blob();
    this.#begin(response);
    if (this.#url !== '') URL.revokeObjectURL(this.#url);
    this.#url = URL.createObjectURL(blob);
    const image = new Image();
    image.alt = 'The captioned image';
    image.src = this.#url;
    this.#part('[data-media]').replaceChildren(image);
    const link = find(this.#root, '[data-download]', HTMLAnchorElement);
    link.href = this.#url;
    link.download = `captioned.${extensionOf(blob)}`;
    this.#part('[data-saved]').hidden = false;
    find(this.#root, 'h3', HTMLElement).focus();
  }

  /** The focus stays where it is, because the message next to the button is announced. */
  async showError(response: Response): Promise<void> {
    const text = await response.text();
    this.#begin(response);
    const problem = parse(text);
    const body = this.#part('[data-body]');
    find(body, 'code', HTMLElement).textContent = problem === undefined ? text : JSON.stringify(problem, null, 2);
    body.hidden = false;
    const { code, errors } = problem ?? {};
    const isCode = typeof code === 'string' && /^[a-z_]+$/u.test(code);
    this.#part('[data-advice]').hidden = !isCode;
    if (isCode) find(this.#root, '[data-error-link]', HTMLAnchorElement).href = `/docs/errors#${code}`;
    if (Array.isArray(errors))
      for (const fault of errors) this.#markFault(String((fault as { pointer?: unknown } | null)?.pointer));
  }

  clearFaults(): void {
    for (const field of this.#form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
  }

  #begin({ status, ok, headers }: Response): void {
    const shown = this.#part('[data-status]');
    shown.textContent = String(status);
    shown.className = `state ${ok ? 'good' : 'bad'}`;
    for (const part of ['[data-advice]', '[data-body]', '[data-saved]']) this.#part(part).hidden = true;
    this.clearFaults();
    find(this.#root, '[data-headers]', HTMLElement).replaceChildren(...headerRows(headers, this.#headers));
    this.#root.hidden = false;
  }

  /** A pointer such as `#/position` or `#/style/preset` names a field of the form. */
  #markFault(pointer: string): void {
    const [, name = ''] = pointer.split('/');
    for (const field of this.#form.querySelectorAll('[name]')) {
      if (field.getAttribute('name') === name) field.setAttribute('aria-invalid', 'true');
    }
  }

  #part(selector: string): HTMLElement {
    return find(this.#root, selector, HTMLElement);
  }
}

/** Returns undefined if the body isn't a JSON object, such as the page of a proxy. */
function parse(text: string): ProblemJson | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
