// The render button with the price, the key, the progress, the way to cancel, and errors.

import { find } from '../elements.ts';
import { errorMessage } from '../problem.ts';
import { loadAccount, type PriceRules, quote, type RenderState, type RenderWork, routeOf } from './payer.ts';
import type { StateStore } from './store.ts';
import { send } from './upload.ts';

export interface RenderPanelOptions {
  readonly root: HTMLElement;
  readonly store: StateStore<RenderState>;
  readonly terms: PriceRules;
  /** Returns undefined while there is nothing to render. */
  readonly work: () => RenderWork | undefined;
  /** With `isGuest`, the form has at most the size that visitors without a key get. */
  readonly form: (isGuest: boolean) => FormData | Promise<FormData>;
  readonly onResult: (response: Response) => Promise<void>;
  /** Shows more of an error than its message, which the panel shows anyway. */
  readonly onError?: (response: Response) => Promise<void>;
}

export class RenderPanel {
  readonly #options: RenderPanelOptions;
  #running: AbortController | undefined;

  constructor(options: RenderPanelOptions) {
    this.#options = options;
    const { root, store } = options;
    const key = find(root, '[data-key]', HTMLInputElement);
    key.addEventListener('input', () => store.update({ key: key.value.trim() }));
    find(root, '[data-cancel]', HTMLButtonElement).addEventListener('click', () =>
      this.#running?.abort(new DOMException('Canceled', 'AbortError')),
    );
    find(root, '[data-form]', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#render();
    });
    // The last error may have been that the server was out of reach.
    window.addEventListener('online', () => this.update());
    store.watch(['rendering'], (state) => this.#drawProgress(state));
    store.watch(['problem'], ({ problem }) => {
      const shown = find(root, '[data-problem]', HTMLElement);
      shown.textContent = problem;
      shown.hidden = problem === '';
    });
    store.watch(['account'], ({ account }) => {
      const payer = find(root, '[data-payer]', HTMLElement);
      payer.textContent = account ? `Signed in as ${account.email}.` : '';
      payer.hidden = account === undefined;
    });
    store.watch(['account', 'key'], () => this.update());
    void this.#loadAccount();
  }

  /** Called when the price may have changed. Hides the last error, because it concerned an earlier version of the work. */
  update(): void {
    const { root, store, terms, work: current } = this.#options;
    const { state } = store;
    if (state.problem !== '') store.update({ problem: '' });
    const work = current();
    if (work === undefined) return;
    const { text, isPossible } = quote({ ...state, ...work }, terms);
    const price = find(root, '[data-price]', HTMLElement);
    if (price.textContent !== text) price.textContent = text;
    price.classList.toggle('over', !isPossible);
    if (!isPossible && state.account === undefined) {
      root.querySelector('details[data-key-row]')?.setAttribute('open', '');
    }
  }

  async #loadAccount(): Promise<void> {
    this.#options.store.update({ account: await loadAccount() });
  }

  async #render(): Promise<void> {
    const { store, work: current, terms, form, onResult, onError } = this.#options;
    const work = current();
    if (work === undefined || this.#running) return;
    const order = { ...store.state, ...work };
    const { text, isPossible } = quote(order, terms);
    store.update({ problem: isPossible ? '' : text });
    if (!isPossible) return;
    const running = new AbortController();
    this.#running = running;
    store.update({ rendering: { phase: 'upload', fraction: undefined } });
    try {
      const response = await send({
        ...routeOf(order),
        form: await form(order.key === '' && order.account === undefined),
        signal: running.signal,
        isSlow: work.seconds !== undefined,
        onProgress: (phase, fraction) => store.update({ rendering: { phase, fraction } }),
      });
      if (!response.ok) {
        await onError?.(response.clone());
        throw new Error(await errorMessage(response));
      }
      await onResult(response);
      if (order.account && order.key === '') await this.#loadAccount();
    } catch (error) {
      const isCanceled = running.signal.aborted;
      store.update({ problem: isCanceled ? '' : error instanceof Error ? error.message : String(error) });
    } finally {
      this.#running = undefined;
      store.update({ rendering: undefined });
    }
  }

  #drawProgress({ rendering }: RenderState): void {
    const { root } = this.#options;
    const button = find(root, '[data-render]', HTMLButtonElement);
    const cancel = find(root, '[data-cancel]', HTMLButtonElement);
    const progress = find(root, '[data-progress]', HTMLElement);
    const hadFocus = document.activeElement === cancel;
    button.disabled = rendering !== undefined;
    cancel.hidden = rendering === undefined;
    progress.hidden = rendering === undefined;
    // The button that had the focus is gone.
    if (hadFocus && rendering === undefined) button.focus();
    const label = rendering?.phase === 'upload' ? 'Uploading' : 'Rendering';
    const fraction = rendering?.fraction;
    const bar = find(progress, 'progress', HTMLProgressElement);
    if (fraction === undefined) bar.removeAttribute('value');
    else bar.value = fraction;
    bar.setAttribute('aria-label', label);
    const percent = fraction === undefined ? '' : ` ${Math.round(fraction * 100)} %`;
    // A hidden status would still be read by some screen readers.
    find(progress, '[data-phase]', HTMLElement).textContent = rendering ? `${label}…${percent}` : '';
  }
}
