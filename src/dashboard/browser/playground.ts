// The playground page: connects the list of bars, the stage, the preview, the result and the call.

import { BarList } from './bar-list.ts';
import { find } from './elements.ts';
import { type Media, openMedia } from './media.ts';
import { Preview } from './preview.ts';
import { renderFile, ResultView } from './result.ts';
import { KEY_PLACEHOLDER, snippetsFor } from './snippets.ts';
import { Stage } from './stage.ts';

const FIRST_CAPTION = 'Golden hour, no filter needed 🌅';

const root = find(document, '[data-playground]', HTMLElement);
const status = find(root, '[data-status]', HTMLElement);
const problem = find(root, '[data-problem]', HTMLElement);
const renderButton = find(root, '[data-render]', HTMLButtonElement);
const keyField = find(root, '[data-key]', HTMLInputElement);
const pauseButton = find(root, '[data-pause]', HTMLButtonElement);
const result = new ResultView(find(root, '[data-result]', HTMLElement));
let media: Media | undefined;

const stageElement = find(root, '[data-stage]', HTMLElement);
const stage = new Stage({
  root: stageElement,
  onMove: (index, position, done) => {
    list.setPosition(index, position);
    showCall();
    preview.cancel();
    if (done) askPreview();
  },
});

const preview = new Preview({
  shown: async (answer, { overlays, height }) => {
    if (stage.isMoving) return;
    await stage.showOverlay(
      answer,
      overlays.map(({ text }) => text),
      height,
    );
    stageElement.ariaBusy = 'false';
    const { missingGlyphs } = answer;
    const many = missingGlyphs === 1 ? '1 character has' : `${missingGlyphs} characters have`;
    say(missingGlyphs > 0 ? `${many} no font and will show as a box.` : '');
  },
  failed: (reason, again) => {
    stageElement.ariaBusy = String(again);
    say(reason);
  },
});

const list = new BarList({
  list: find(root, '[data-bars]', HTMLOListElement),
  template: find(root, '[data-bar]', HTMLTemplateElement),
  addButton: find(root, '[data-add]', HTMLButtonElement),
  maxBars: Number(root.dataset['maxBars']),
  maxText: Number(root.dataset['maxText']),
  defaults: (root.dataset['defaults'] ?? '').split(' ').map(Number),
  onChange: () => {
    showCall();
    askPreview();
  },
});

function say(text: string): void {
  status.textContent = text;
}

/** At the media's own size, or the largest the service draws: laid over it, it is scaled with it. */
function askPreview(): void {
  if (media === undefined) return;
  const { overlays } = list;
  if (overlays.length === 0) {
    preview.cancel();
    stage.clear();
    stageElement.ariaBusy = 'false';
    return;
  }
  stageElement.ariaBusy = 'true';
  const { width, height } = media;
  const { maxSide, maxPixels } = root.dataset;
  const scale = Math.min(1, Number(maxSide) / Math.max(width, height), Math.sqrt(Number(maxPixels) / (width * height)));
  preview.ask({ width: Math.floor(width * scale), height: Math.floor(height * scale), overlays });
}

function showCall(): void {
  const snippets = snippetsFor({
    baseUrl: root.dataset['baseUrl'] ?? '',
    key: KEY_PLACEHOLDER,
    asset: media?.file.name ?? 'photo.jpg',
    overlays: list.overlays,
    output: media?.kind === 'video' ? 'captioned.mp4' : 'captioned.png',
  });
  for (const { id, code } of snippets) find(root, `[data-language="${id}"] code`, HTMLElement).textContent = code;
}

async function open(file: File, alt = `Your file ${file.name}`): Promise<void> {
  try {
    const opened = await openMedia(file, alt);
    media?.release();
    media = opened;
    preview.cancel();
    stage.showMedia(opened);
    offerPause(opened);
    say('');
    showCall();
    askPreview();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

/** What moves by itself must be stoppable. */
function offerPause({ element }: Media): void {
  pauseButton.hidden = element instanceof HTMLImageElement;
  const label = (): void => {
    pauseButton.textContent = element instanceof HTMLVideoElement && element.paused ? 'Play' : 'Pause';
  };
  element.addEventListener('play', label);
  element.addEventListener('pause', label);
  label();
}

async function playOrPause(): Promise<void> {
  const element = media?.element;
  if (!(element instanceof HTMLVideoElement)) return;
  if (element.paused) await element.play();
  else element.pause();
}

async function openStarter({ dataset }: HTMLElement): Promise<void> {
  const response = await fetch(dataset['starter'] ?? '');
  const bytes = await response.blob();
  await open(new File([bytes], dataset['name'] ?? 'sample', { type: bytes.type }), dataset['alt']);
}

async function render(): Promise<void> {
  if (media === undefined) return;
  const { overlays } = list;
  problem.hidden = true;
  renderButton.disabled = true;
  renderButton.textContent = 'Rendering…';
  try {
    await result.show(await renderFile({ media, overlays, key: keyField.value.trim() }), media);
  } catch (error) {
    problem.textContent = error instanceof Error ? error.message : String(error);
    problem.hidden = false;
  } finally {
    renderButton.disabled = false;
    renderButton.textContent = 'Render';
  }
}

function listenToFiles(): void {
  const take = (files: FileList | null | undefined, event: Event): void => {
    const [file] = files ?? [];
    if (file === undefined) return;
    event.preventDefault();
    void open(file);
  };
  find(root, '[data-file]', HTMLInputElement).addEventListener('change', (event) => {
    take((event.currentTarget as HTMLInputElement).files, event);
  });
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => take(event.dataTransfer?.files, event));
  document.addEventListener('paste', (event) => take(event.clipboardData?.files, event));
  for (const button of root.querySelectorAll<HTMLElement>('[data-starter]')) {
    button.addEventListener('click', () => void openStarter(button));
  }
}

listenToFiles();
pauseButton.addEventListener('click', () => void playOrPause());
find(root, '[data-form]', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void render();
});
list.add(FIRST_CAPTION);
await openStarter(find(root, '[data-starter]', HTMLElement));
