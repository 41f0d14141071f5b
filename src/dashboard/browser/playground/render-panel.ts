// The render button with the price, the key, the progress, the way to cancel, and errors.

import { find } from '../elements.ts';
import { errorMessage } from '../problem.ts';
import { type Account, loadAccount, type Order, type PriceRules, quote, routeOf } from './payer.ts';
import { send } from './upload.ts';

/** The file and fields to render. */
export interface RenderWork {
  /** The length of a video. Undefined for an image. */
  readonly seconds: number | undefined;
  /** With `isGuest`, the form has at most the size that visitors without a key get. */
  readonly form: (isGuest: boolean) => FormData | Promise<FormData>;
}

export interface RenderPanelOptions {
  readonly root: HTMLElement;
  readonly terms: PriceRules;
  /** Returns undefined while there is nothing to render. */
  readonly work: () => RenderWork | undefined;
  readonly onResult: (response: Response) => Promise<void>;
  /** Shows more of an error than its message, which the panel shows anyway. */
  readonly onError?: (response: Response) => Promise<void>;
}

export class RenderPanel {
  readonly #options: RenderPanelOptions;
  readonly #button: HTMLButtonElement;
  readonly #cancel: HTMLButtonElement;
  readonly #price: HTMLElement;
  readonly #problem: HTMLElement;
  readonly #progress: HTMLElement;
  readonly #key: HTMLInputElement;
  #account: Account | undefined;
  #running: AbortController | undefined;

  constructor(options: RenderPanelOptions) {
    const { root } = options;
    this.#options = options;
    this.#button = find(root, '[data-render]', HTMLButtonElement);
    this.#cancel = find(root, '[data-cancel]', HTMLButtonElement);
    this.#price = find(root, '[data-price]', HTMLElement);
    this.#problem = find(root, '[data-problem]', HTMLElement);
    this.#progress = find(root, '[data-progress]', HTMLElement);
    this.#key = find(root, '[data-key]', HTMLInputElement);
    this.#key.addEventListener('input', () => this.update());
    this.#cancel.addEventListener('click', () => this.#running?.abort(new DOMException('Canceled', 'AbortError')));
    find(root, '[data-form]', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#render();
    });
    // The last error may have been that the server was out of reach.
    window.addEventListener('online', () => this.update());
    void this.#loadAccount();
  }

  /**
   * Called when the price may have changed. Hides the last error, because it concerned an earlier version of the work.
   */
  update(): void {
    this.#showProblem('');
    const work = this.#options.work();
    if (work === undefined) return;
    const { text, isPossible } = quote(this.#orderOf(work), this.#options.terms);
    this.#price.textContent = text;
    this.#price.classList.toggle('over', !isPossible);
    if (!isPossible && this.#account === undefined) {
      this.#options.root.querySelector('details[data-key-row]')?.setAttribute('open', '');
    }
  }

  #orderOf({ seconds }: RenderWork): Order {
    return { seconds, key: this.#key.value.trim(), account: this.#account };
  }

  async #loadAccount(): Promise<void> {
    this.#account = await loadAccount();
    const payer = find(this.#options.root, '[data-payer]', HTMLElement);
    payer.textContent = this.#account ? `Signed in as ${this.#account.email}.` : '';
    payer.hidden = this.#account === undefined;
    this.update();
  }

  async #render(): Promise<void> {
    const work = this.#options.work();
    if (work === undefined || this.#running) return;
    this.#showProblem('');
    const order = this.#orderOf(work);
    const { text, isPossible } = quote(order, this.#options.terms);
    if (!isPossible) {
      this.#showProblem(text);
      return;
    }
    const running = new AbortController();
    this.#running = running;
    this.#showRunning(true);
    try {
      const response = await send({
        ...routeOf(order),
        form: await work.form(order.key === '' && order.account === undefined),
        signal: running.signal,
        isSlow: work.seconds !== undefined,
        onProgress: (phase, fraction) => this.#showProgress(phase, fraction),
      });
      if (!response.ok) {
        await this.#options.onError?.(response.clone());
        throw new Error(await errorMessage(response));
      }
      await this.#options.onResult(response);
      if (order.account && order.key === '') await this.#loadAccount();
    } catch (error) {
      if (!running.signal.aborted) this.#showProblem(error instanceof Error ? error.message : String(error));
    } finally {
      this.#running = undefined;
      this.#showRunning(false);
    }
  }

  #showRunning(isRunning: boolean): void {
    this.#button.disabled = isRunning;
    const hadFocus = document.activeElement === this.#cancel;
    this.#cancel.hidden = !isRunning;
    this.#progress.hidden = !isRunning;
    if (isRunning) this.#showProgress('upload', undefined);
    else {
      // A hidden status would still be read by some screen readers.
      find(this.#progress, '[data-phase]', HTMLElement).textContent = '';
      // The button that had the focus is gone.
      if (hadFocus) this.#button.focus();
    }
  }

  #showProgress(phase: 'upload' | 'render', fraction: number | undefined): void {
    const label = phase === 'upload' ? 'Uploading' : 'Rendering';
    const bar = find(this.#progress, 'progress', HTMLProgressElement);
    if (fraction === undefined) bar.removeAttribute('value');
    else bar.value = fraction;
    bar.setAttribute('aria-label', label);
    const percent = fraction === undefined ? '' : ` ${Math.round(fraction * 100)} %`;
    find(this.#progress, '[data-phase]', HTMLElement).textContent = `${label}…${percent}`;
  }

  #showProblem(text: string): void {
    this.#problem.textContent = text;
    this.#problem.hidden = text === '';
  }
}
