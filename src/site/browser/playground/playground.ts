// The playground page: one state, views that are drawn from it, and what the page does besides: open files, keep the draft, and
// copy it as a link.

import { find } from '../elements.ts';
import { snippetsFor } from '../snippets.ts';
import { barList } from './bar-list.ts';
import { type Draft, EMPTY_DRAFT, fromFragment, newBar, toFragment } from './draft.ts';
import { forgetWork, loadDraft, loadFile, saveDraft, saveFile } from './draft-store.ts';
import { change, type Editor, listenToUndo } from './editor.ts';
import { fieldViews } from './field-views.ts';
import { newHistory } from './history.ts';
import { livePreview } from './live-preview.ts';
import { openMedia } from './media.ts';
import { NOT_RENDERING, type RenderWork, termsIn } from './payer.ts';
import { RenderPanel } from './render-panel.ts';
import { formOf, snippetOf } from './request.ts';
import { listenToSources, type SampleFile, sampleNamed } from './sources.ts';
import { Stage } from './stage.ts';
import { stageMedia } from './stage-media.ts';
import { draftOf, secondsOf, sourceOf, type State } from './state.ts';
import { StateStore } from './store.ts';

const FIRST_DRAFT: Draft = { ...EMPTY_DRAFT, bars: [newBar({ text: 'No signal, great connection 🏔️' })] };
const SAVE_MS = 300;
const FEEDBACK_MS = 2_000;

const root = find(document, '[data-playground]', HTMLElement);
const terms = termsIn(root.dataset);
const store: Editor = new StateStore<State>({
  ...NOT_RENDERING,
  history: newHistory(loadDraft() ?? FIRST_DRAFT),
  media: undefined,
  time: 0,
  isPlaying: false,
  overlay: undefined,
  isBusy: false,
  status: '',
  pages: undefined,
  isMoving: false,
  editing: undefined,
  result: undefined,
});

function workOf(state: State): RenderWork | undefined {
  const { media } = state;
  if (media === undefined) return undefined;
  const source = sourceOf(state);
  const isOverlay = source === 'canvas' || source === 'clip';
  return {
    // A cover has the price of an image.
    seconds: source === 'frame' ? undefined : secondsOf(state),
    file: isOverlay ? undefined : { bytes: media.file.size, seconds: media.seconds },
    isClip: source === 'clip',
  };
}

function showCode(state: State): void {
  const request = snippetOf(state, root.dataset['baseUrl'] ?? '');
  if (request === undefined) return;
  for (const { id, code } of snippetsFor(request)) {
    const shown = find(root, `[data-language="${id}"] code`, HTMLElement);
    if (shown.textContent !== code) shown.textContent = code;
  }
}

/** A change just before a reload must not be lost. */
function keepDraft(): void {
  let saving: ReturnType<typeof setTimeout> | undefined;
  const save = (): void => {
    const { history, media } = store.state;
    saveDraft({ ...history.current, sample: media?.sample ?? history.current.sample });
  };
  store.watch(['history', 'media'], () => {
    clearTimeout(saving);
    saving = setTimeout(save, SAVE_MS);
  });
  addEventListener('pagehide', save);
}

/** The code for videos is loaded with the first one. */
function loadVideoViews(): void {
  let isLoaded = false;
  store.watch(['history', 'media'], (state) => {
    if (isLoaded || secondsOf(state) === undefined) return;
    isLoaded = true;
    void import('./video-views.ts').then(({ videoViews }) => videoViews(store, root, terms));
  });
}

async function open(file: File, alt: string, sample = ''): Promise<void> {
  const before = store.state.media;
  store.update({ isBusy: true, status: 'Opening the file…' });
  try {
    const media = await openMedia(file, alt, sample);
    const isMoving = media.kind === 'video' && !matchMedia('(prefers-reduced-motion: reduce)').matches;
    store.update({ media, status: '', isBusy: false, time: 0, isPlaying: isMoving, editing: undefined });
    before?.release();
    // A sample can be loaded from the server again, so it isn't stored.
    await saveFile(sample === '' ? file : undefined);
  } catch (error) {
    store.update({ isBusy: false, status: error instanceof Error ? error.message : String(error) });
  }
}

async function openOwn(file: File): Promise<void> {
  await open(file, `Your file ${file.name}`);
}

async function openSample({ url, name, alt }: SampleFile): Promise<void> {
  const bytes = await (await fetch(url)).blob();
  await open(new File([bytes], name, { type: bytes.type }), alt, name);
}

async function copyLink(button: HTMLButtonElement): Promise<void> {
  const { history, media } = store.state;
  const fragment = toFragment({ ...history.current, sample: media?.sample ?? '' });
  if (fragment === undefined) {
    store.update({ status: 'There is too much text for a link.' });
    return;
  }
  const link = new URL(`#${fragment}`, location.href);
  try {
    await navigator.clipboard.writeText(link.href);
  } catch {
    // The address bar is the next best place to copy it from.
    window.history.replaceState(null, '', link);
    store.update({ status: 'The link is in the address bar.' });
    return;
  }
  const label = button.textContent;
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = label;
  }, FEEDBACK_MS);
}

/** Undo brings back the work before the link. Returns undefined without a link. */
function openLink(): Draft | undefined {
  const linked = fromFragment(location.hash);
  if (linked === undefined) return undefined;
  change(store, linked);
  // A reload then shows the visitor's changes and not the link again.
  window.history.replaceState(null, '', location.pathname);
  return linked;
}

function listen(): void {
  listenToUndo(store, root);
  listenToSources(store, { root, onFile: (file) => void openOwn(file), onSample: (sample) => void openSample(sample) });
  const linkButton = find(root, '[data-link]', HTMLButtonElement);
  linkButton.addEventListener('click', () => void copyLink(linkButton));
  find(root, '[data-start-over]', HTMLButtonElement).addEventListener('click', () => {
    change(store, FIRST_DRAFT);
    void forgetWork().then(() => openSample(sampleNamed(root)));
  });
  find(root, '[data-form]', HTMLFormElement).addEventListener('keydown', keepFromRendering);
  addEventListener('hashchange', () => {
    const linked = openLink();
    if (linked?.sample) void openSample(sampleNamed(root, linked.sample));
  });
}

/** Enter in a field accepts its value, or opens its dialog. Only the button renders, because a render can cost credits. */
function keepFromRendering(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
  if (event.target.type === 'file' || event.target.type === 'color') return;
  event.preventDefault();
  event.target.dispatchEvent(new Event('change', { bubbles: true }));
}

function show(): void {
  stageMedia(store, root);
  new Stage(store, find(root, '[data-stage]', HTMLElement)).watch();
  barList(store, root);
  fieldViews(store, root, terms);
  const panel = new RenderPanel({
    root,
    store,
    terms,
    work: () => workOf(store.state),
    form: (isGuest) => formOf(store.state, isGuest ? terms.maxSide : undefined),
    onResult: async (response) => {
      // The visitor may open another file while the result arrives.
      const rendered = store.state;
      const { resultOf, showResults } = await import('./result.ts');
      showResults(store, find(root, '[data-result]', HTMLElement));
      store.update({ result: await resultOf(response, rendered) });
    },
  });
  store.watch(['history', 'media'], () => panel.update());
  store.watch(['history', 'media', 'account', 'time'], showCode);
  const status = find(root, '[data-status]', HTMLElement);
  store.watch(['status'], (state) => {
    status.textContent = state.status;
  });
  store.watch(['account'], ({ account }) => {
    if (account) void import('./save-style.ts').then(({ saveStyleForm }) => saveStyleForm(store, root));
  });
  livePreview(store, terms);
  loadVideoViews();
  keepDraft();
}

/** A link takes precedence over the work of the last visit, which undo brings back. */
async function begin(): Promise<void> {
  const kept = draftOf(store.state);
  const linked = openLink();
  show();
  listen();
  const file = linked?.sample ? undefined : await loadFile();
  if (file) await openOwn(file);
  if (store.state.media === undefined) await openSample(sampleNamed(root, (linked ?? kept).sample));
}

await begin();
