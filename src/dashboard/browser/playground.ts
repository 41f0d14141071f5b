// The playground page: connects the caption list, the stage, the preview, the result and the code.

import { BarList } from './bar-list.ts';
import { find } from './elements.ts';
import { LookPicker } from './look-picker.ts';
import { type Media, openMedia } from './media.ts';
import { Preview, previewSize } from './preview.ts';
import { extensionOf, renderFile, ResultView } from './result.ts';
import { KEY_PLACEHOLDER, snippetsFor } from './snippets.ts';
import { Stage } from './stage.ts';
import { Subtitles } from './subtitles.ts';

const FIRST_CAPTION = 'Golden hour, no filter needed 🌅';

const root = find(document, '[data-playground]', HTMLElement);
const status = find(root, '[data-status]', HTMLElement);
const problem = find(root, '[data-problem]', HTMLElement);
const renderButton = find(root, '[data-render]', HTMLButtonElement);
const keyField = find(root, '[data-key]', HTMLInputElement);
const formatField = find(root, '[data-format]', HTMLSelectElement);
const pauseButton = find(root, '[data-pause]', HTMLButtonElement);
const resultView = new ResultView(find(root, '[data-result]', HTMLElement));
const keyNeeded = root.dataset['keyNeeded'] ?? '';
let media: Media | undefined;

const stageElement = find(root, '[data-stage]', HTMLElement);
const stage = new Stage({
  root: stageElement,
  onMove: (index, position, done) => {
    list.setPosition(index, position);
    showCode();
    preview.cancel();
    if (done) requestPreview();
  },
});

const preview = new Preview({
  onResult: async (result, { overlays, height }) => {
    if (stage.isMoving) return;
    await stage.showOverlay(
      result,
      overlays.map(({ text }) => text),
      height,
    );
    stageElement.ariaBusy = 'false';
    const { missingGlyphs } = result;
    showStatus(missingGlyphs > 0 ? missingGlyphsMessage(missingGlyphs) : '');
  },
  onError: (message, willRetry) => {
    stageElement.ariaBusy = String(willRetry);
    showStatus(message);
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
    showCode();
    requestPreview();
  },
});

const subtitles = new Subtitles(find(root, '[data-subtitles]', HTMLElement), () => {
  showCode();
  requestPreview();
});

const look = new LookPicker(
  find(root, '[data-look]', HTMLElement),
  find(root, '[data-safe-guide]', HTMLElement),
  () => {
    showCode();
    requestPreview();
  },
);

function showStatus(text: string): void {
  status.textContent = text;
}

function missingGlyphsMessage(count: number): string {
  if (count === 1) return "1 character isn't supported and will appear as a box.";
  return `${count} characters aren't supported and will appear as boxes.`;
}

/** Requests the overlay at the media's own size, or at the largest size that visitors without a key get. */
function requestPreview(): void {
  if (media === undefined) return;
  const hasSubtitles = subtitles.captions !== undefined;
  const overlays = list.overlays.map(({ text, position }) => (position === undefined ? { text } : { text, position }));
  if (hasSubtitles || overlays.length === 0) {
    preview.cancel();
    stage.clear();
    stageElement.ariaBusy = 'false';
    showStatus(hasSubtitles ? 'The rendered video will have the subtitles instead of these captions.' : '');
    return;
  }
  stageElement.ariaBusy = 'true';
  const { maxSide, minSide } = root.dataset;
  preview.request({ ...previewSize(media, Number(maxSide), Number(minSide)), overlays, look: look.fields });
}

function showCode(): void {
  const snippets = snippetsFor({
    baseUrl: root.dataset['baseUrl'] ?? '',
    key: KEY_PLACEHOLDER,
    asset: media?.file.name ?? 'photo.jpg',
    overlays: list.overlays,
    captions: subtitles.captions,
    look: look.fields,
    ...outputOf(media),
  });
  for (const { id, code } of snippets) find(root, `[data-language="${id}"] code`, HTMLElement).textContent = code;
}

/** The format applies to images only. */
function outputOf(opened: Media | undefined): { format?: string; output: string } {
  if (opened?.kind === 'video') return { output: 'captioned.mp4' };
  const { value } = formatField;
  return value === 'png' ? { output: 'captioned.png' } : { format: value, output: `captioned.${extensionOf(value)}` };
}

async function open(file: File, alt = `Your file ${file.name}`): Promise<void> {
  try {
    const opened = await openMedia(file, alt);
    media?.release();
    media = opened;
    preview.cancel();
    stage.showMedia(opened);
    look.showFor(opened);
    offerPause(opened);
    showStatus('');
    subtitles.offer(opened.kind === 'video');
    list.showTimes(opened.kind === 'video');
    showCode();
    requestPreview();
  } catch (error) {
    showStatus(error instanceof Error ? error.message : String(error));
  }
}

/** Visitors must be able to pause anything that plays automatically (WCAG 2.2.2). */
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

async function openSample({ dataset }: HTMLElement): Promise<void> {
  const response = await fetch(dataset['sample'] ?? '');
  const bytes = await response.blob();
  await open(new File([bytes], dataset['name'] ?? 'sample', { type: bytes.type }), dataset['alt']);
}

async function render(): Promise<void> {
  if (media === undefined) return;
  const { overlays } = list;
  const { captions } = subtitles;
  problem.hidden = true;
  renderButton.disabled = true;
  renderButton.textContent = 'Rendering…';
  try {
    const { format } = outputOf(media);
    const key = keyField.value.trim();
    const input = { media, overlays, captions, look: look.fields, format, key, keyNeeded };
    await resultView.show(await renderFile(input), media);
  } catch (error) {
    problem.textContent = error instanceof Error ? error.message : String(error);
    problem.hidden = false;
  } finally {
    renderButton.disabled = false;
    renderButton.textContent = 'Render';
  }
}

function listenToFiles(): void {
  const openFirst = (files: FileList | null | undefined, event: Event): void => {
    const [file] = files ?? [];
    if (file === undefined) return;
    event.preventDefault();
    void open(file);
  };
  find(root, '[data-file]', HTMLInputElement).addEventListener('change', (event) => {
    openFirst((event.currentTarget as HTMLInputElement).files, event);
  });
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => openFirst(event.dataTransfer?.files, event));
  document.addEventListener('paste', (event) => openFirst(event.clipboardData?.files, event));
  for (const button of root.querySelectorAll<HTMLElement>('[data-sample]')) {
    button.addEventListener('click', () => void openSample(button));
  }
}

formatField.addEventListener('change', showCode);
listenToFiles();
pauseButton.addEventListener('click', () => void playOrPause());
find(root, '[data-form]', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void render();
});
list.add(FIRST_CAPTION);
await openSample(find(root, '[data-sample]', HTMLElement));
