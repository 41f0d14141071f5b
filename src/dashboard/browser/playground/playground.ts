// The playground page: connects the captions, the stage, the preview, the result and the code.

import { isShownAt } from '../../../caption/timing-field.ts';
import { find } from '../elements.ts';
import { Preview, type PreviewMoment, previewSize } from '../preview.ts';
import { missingGlyphsMessage } from '../problem.ts';
import { type SnippetOverlay, snippetsFor } from '../snippets.ts';
import { BarList } from './bar-list.ts';
import { type Draft, EMPTY_DRAFT, fromFragment } from './draft.ts';
import { forgetWork, loadDraft, loadFile, saveDraft, saveFile } from './draft-store.ts';
import { type EditedRequest, formOf, snippetOf } from './edited-request.ts';
import { runCommand } from './handle-commands.ts';
import { EditHistory } from './history.ts';
import { LookPicker } from './look-picker.ts';
import { momentOf } from './moment.ts';
import { blankCanvas, canvasSize, cropImage, type Media, openMedia } from './media.ts';
import { OutputFields } from './output-fields.ts';
import { termsIn } from './payer.ts';
import { Player } from './player.ts';
import { RenderPanel, type RenderWork } from './render-panel.ts';
import { ResultView } from './result.ts';
import { copyLink } from './share-link.ts';
import { type SampleFile, Sources } from './sources.ts';
import { Stage } from './stage.ts';
import { Subtitles } from './subtitles.ts';
import { Timeline } from './timeline.ts';
import { listenToUndoKeys } from './undo-keys.ts';

const FIRST_DRAFT: Draft = { ...EMPTY_DRAFT, bars: [{ text: 'No signal, great connection 🏔️' }] };
const SAVE_MS = 300;

const root = find(document, '[data-playground]', HTMLElement);
const { dataset } = root;
const maxSide = Number(dataset['maxSide']);
const status = find(root, '[data-status]', HTMLElement);
const output = new OutputFields(root, () => changed());
const undoButton = find(root, '[data-undo]', HTMLButtonElement);
const redoButton = find(root, '[data-redo]', HTMLButtonElement);
const cropLink = find(root, '[data-crop]', HTMLAnchorElement);
const stageElement = find(root, '[data-stage]', HTMLElement);
const resultView = new ResultView(find(root, '[data-result]', HTMLElement));

/** The visitor's file. */
let original: Media | undefined;
/** The visitor's file, possibly cropped to another shape. */
let media: Media | undefined;
let history: EditHistory<Draft> | undefined;
let saving: ReturnType<typeof setTimeout> | undefined;
let presentations = 0;
/** The captions that the frame of the last preview shows. */
let previewedMoment: string | undefined;

const stage = new Stage({
  root: stageElement,
  onMove: (id, position, done) => {
    list.setPosition(id, position);
    preview.cancel();
    // A drag is a step of its own. Presses of a key in quick succession are one step together.
    if (done) changed(done === 'keys' ? `move ${id}` : undefined);
    else showCode();
  },
  onCommand: (id, command) => runCommand(id, command, { stage, list, size: look.size, root }),
  onAdd: (position) => {
    const id = list.add({ text: '', position });
    if (id !== undefined) stage.edit(id, '', { size: look.size, position });
  },
  onType: (id, text) => list.setText(id, text),
  onTyped: (id, text) => {
    if (text.trim() === '') list.remove(id);
    else requestPreview();
  },
});

const preview = new Preview({
  onResult: async (result, { width, height, moment }) => {
    if (stage.isMoving) return;
    // Subtitles can't be dragged.
    const filled = moment?.captions === undefined ? list.filled : [];
    const bars = filled.map(({ id, text, ...span }) => {
      const isShown = moment === undefined || isShownAt(span, moment.milliseconds);
      return { id, text, isShown };
    });
    await stage.showOverlay(result, bars, { height, margins: look.marginsOn({ width, height }) });
    list.showPositions(stage.centers);
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
  emptyHint: find(root, '[data-no-captions]', HTMLElement),
  onChange: changed,
});
const subtitles = new Subtitles({
  root: find(root, '[data-subtitles]', HTMLElement),
  onChange: changed,
  onLook: (values) => {
    const { safe_area: area = '' } = look.values;
    look.restore({ ...values, safe_area: area });
    changed('look');
  },
  onPages: () => {
    showTimeline();
    requestPreview();
  },
});
const look = new LookPicker(
  find(root, '[data-look]', HTMLElement),
  find(root, '[data-safe-guide]', HTMLElement),
  changed,
);
const sources = new Sources({
  root: find(root, '[data-sources]', HTMLElement),
  onFile: (file) => void open(file, `Your file ${file.name}`),
  onSubtitles: (file) => void subtitles.read(file),
  onSample: (sample) => void openSample(sample),
  onShape: () => {
    changed('shape');
    void present();
  },
});
const player = new Player(find(root, '[data-player]', HTMLElement), followVideo);
const timeline = new Timeline({
  root: find(root, '[data-timeline]', HTMLElement),
  onChange: (id, times, done) => {
    list.setTimes(id, times);
    if (done) changed(`times ${id}`);
    else showCode();
  },
});
const panel = new RenderPanel({
  root,
  terms: termsIn(dataset),
  work: renderWork,
  onResult: async (response) => await resultView.show(response, media?.file.name ?? 'overlay'),
});

function currentDraft(): Draft {
  return {
    bars: list.bars,
    look: look.values,
    ...output.values,
    captions: subtitles.text,
    maxWords: subtitles.maxWords,
    shape: sources.shape,
    isOverlayOnly: sources.isOverlayOnly,
    sample: original?.sample ?? '',
  };
}

/** Called after every change by the visitor. Changes with the same key in quick succession are one undo step. */
function changed(key?: string): void {
  history?.record(currentDraft(), key);
  stage.refreshEditor((id) => list.textOf(id));
  refresh();
}

function refresh(): void {
  undoButton.disabled = history?.canUndo !== true;
  redoButton.disabled = history?.canRedo !== true;
  clearTimeout(saving);
  saving = setTimeout(() => saveDraft(currentDraft()), SAVE_MS);
  look.allowHighlight(isVideo() && subtitles.captions !== undefined);
  showCode();
  showTimeline();
  requestPreview();
  panel.update();
}

function showTimeline(): void {
  const { captions, pages } = subtitles;
  timeline.show(videoSeconds(), list.filled, isVideo() && captions !== undefined ? pages : undefined);
  timeline.setTime(player.time);
}

/** Called for every frame while the video plays. */
function followVideo(seconds: number): void {
  timeline.setTime(seconds);
  const moment = currentMoment();
  if (moment && moment.shown !== previewedMoment) requestPreview();
}

/** Fills all fields. The media stays. */
function apply(draft: Draft): void {
  const before = currentDraft();
  list.restore(draft.bars);
  look.restore(draft.look);
  subtitles.restore(draft);
  output.restore(draft);
  sources.restore(draft);
  if (before.shape !== sources.shape || before.isOverlayOnly !== sources.isOverlayOnly) void present();
  refresh();
}

function step(direction: 'undo' | 'redo'): void {
  const draft = history?.[direction]();
  if (draft === undefined) return;
  apply(draft);
  stage.refreshEditor((id) => list.textOf(id));
}

function showStatus(text: string): void {
  status.textContent = text;
}

/** Returns the size of the result. */
function baseSize(): { readonly width: number; readonly height: number } | undefined {
  if (original === undefined || media === undefined) return undefined;
  return sources.isOverlayOnly ? canvasSize(original, sources.shape) : media;
}

function isVideo(): boolean {
  return media?.kind === 'video' && !sources.isOverlayOnly;
}

function videoSeconds(): number | undefined {
  const element = media?.element;
  return isVideo() && element instanceof HTMLVideoElement ? element.duration : undefined;
}

function currentMoment(): PreviewMoment | undefined {
  return momentOf({
    duration: videoSeconds(),
    milliseconds: Math.round(player.time * 1_000),
    bars: list.filled,
    subtitles,
    isHighlighted: look.values['highlight'] !== undefined,
  });
}

/** Returns overlays in the form that the API takes. */
function overlays(): SnippetOverlay[] {
  return list.filled.map(({ id: _id, ...overlay }) => overlay);
}

/** Requests the overlay at the media's own size, or at the largest size that visitors without a key get. */
function requestPreview(): void {
  const size = baseSize();
  if (size === undefined) return;
  const moment = currentMoment();
  previewedMoment = moment?.shown;
  if (moment?.captions === undefined && list.filled.length === 0) {
    preview.cancel();
    stage.clear();
    stageElement.ariaBusy = 'false';
    showStatus('');
    return;
  }
  stageElement.ariaBusy = 'true';
  preview.request({
    ...previewSize(size, maxSide),
    overlays: overlays(),
    look: lookFields(),
    ...(moment && { moment }),
  });
  if (moment) subtitles.requestPages(previewSize(size, maxSide), moment, lookFields());
}

/** The style, the safe area and the size of pages. */
function lookFields(): Readonly<Record<string, string>> {
  return { ...look.fields, ...subtitles.fields };
}

function editedRequest(): EditedRequest | undefined {
  const canvas = sources.isOverlayOnly ? baseSize() : undefined;
  if (media === undefined) return undefined;
  return {
    file: media.file,
    isVideo: isVideo(),
    canvas: canvas && { width: canvas.width, height: canvas.height },
    overlays: overlays(),
    captions: isVideo() ? subtitles.captions : undefined,
    look: lookFields(),
    ...output.values,
  };
}

function showCode(): void {
  const request = editedRequest();
  if (request === undefined) return;
  const snippets = snippetsFor(snippetOf(request, dataset['baseUrl'] ?? ''));
  for (const { id, code } of snippets) find(root, `[data-language="${id}"] code`, HTMLElement).textContent = code;
}

function renderWork(): RenderWork | undefined {
  const request = editedRequest();
  if (request === undefined) return undefined;
  const { canvas } = request;
  const forGuests = canvas && previewSize(canvas, maxSide);
  return {
    seconds: videoSeconds(),
    form: (isGuest) => formOf({ ...request, canvas: isGuest ? forGuests : canvas }),
  };
}

async function open(file: File, alt: string, sample = ''): Promise<void> {
  try {
    const opened = await openMedia(file, alt, sample);
    original?.release();
    original = opened;
    sources.markSample(sample);
    await present();
    showStatus('');
    // A sample can be loaded from the server again, so it isn't stored.
    await saveFile(sample === '' ? file : undefined);
  } catch (error) {
    showStatus(error instanceof Error ? error.message : String(error));
  }
}

/** Shows the file in its shape, or the transparent background. */
async function present(): Promise<void> {
  if (original === undefined) return;
  const turn = (presentations += 1);
  const { isOverlayOnly } = sources;
  sources.allowShapes(original.kind === 'image' || isOverlayOnly);
  const { shape } = sources;
  const isCropped = shape !== '' && !isOverlayOnly;
  const shown = isCropped ? await cropImage(original, shape) : original;
  // The visitor has chosen something else in the meantime.
  if (turn !== presentations) {
    if (shown !== original) shown.release();
    return;
  }
  if (media !== undefined && media !== original && media !== shown) media.release();
  media = shown;
  preview.cancel();
  const size = isOverlayOnly ? canvasSize(original, shape) : shown;
  stage.showMedia(isOverlayOnly ? blankCanvas(size) : shown.element);
  look.showFor(size);
  player.show(isVideo() && shown.element instanceof HTMLVideoElement ? shown.element : undefined);
  subtitles.offer(isVideo());
  list.showTimes(isVideo());
  output.offer(!isVideo());
  cropLink.hidden = !isCropped;
  if (isCropped) Object.assign(cropLink, { href: (shown.element as HTMLImageElement).src, download: shown.file.name });
  refresh();
}

async function openSample({ url, name, alt }: SampleFile): Promise<void> {
  const response = await fetch(url);
  const bytes = await response.blob();
  await open(new File([bytes], name, { type: bytes.type }), alt, name);
}

async function startOver(): Promise<void> {
  apply(FIRST_DRAFT);
  history?.record(currentDraft());
  await forgetWork();
  await openSample(sources.sample());
}

function listen(): void {
  undoButton.addEventListener('click', () => step('undo'));
  redoButton.addEventListener('click', () => step('redo'));
  const linkButton = find(root, '[data-link]', HTMLButtonElement);
  linkButton.addEventListener('click', () => void copyLink(linkButton, currentDraft(), showStatus));
  find(root, '[data-start-over]', HTMLButtonElement).addEventListener('click', () => void startOver());
  listenToUndoKeys(step);
  addEventListener('hashchange', () => {
    const linked = openLink();
    if (linked?.sample) void openSample(sources.sample(linked.sample));
  });
  // A change just before a reload must not be lost.
  addEventListener('pagehide', () => saveDraft(currentDraft()));
}

/** Returns undefined without a link. */
function openLink(): Draft | undefined {
  const linked = fromFragment(location.hash);
  if (linked === undefined) return undefined;
  apply(linked);
  history?.record(currentDraft());
  // A reload then shows the visitor's changes and not the link again.
  window.history.replaceState(null, '', location.pathname);
  return linked;
}

/** A link takes precedence over the work of the last visit, which undo brings back. */
async function begin(): Promise<void> {
  const kept = loadDraft();
  apply(kept ?? FIRST_DRAFT);
  history = new EditHistory(currentDraft());
  const linked = openLink();
  listen();
  const file = linked?.sample ? undefined : await loadFile();
  if (file) await open(file, `Your file ${file.name}`);
  if (original === undefined) await openSample(sources.sample((linked ?? kept)?.sample));
}

await begin();
