// Where files come from: upload, samples, drop and paste. Subtitles and transcripts can be dropped and pasted, too.

import { change, type Editor } from './editor.ts';
import { draftOf, secondsOf } from './state.ts';

export interface SampleFile {
  readonly name: string;
  readonly url: string;
  readonly alt: string;
}

interface SourcesOptions {
  readonly root: HTMLElement;
  readonly onFile: (file: File) => void;
  readonly onSample: (sample: SampleFile) => void;
}

export function listenToSources(store: Editor, { root, onFile, onSample }: SourcesOptions): void {
  const setCaptions = (captions: string): void => change(store, { ...draftOf(store.state), captions });
  const open = (files: FileList | null | undefined, event: Event): void => {
    const [file] = files ?? [];
    if (file === undefined) return;
    event.preventDefault();
    if (isSubtitleFile(file)) void file.text().then(setCaptions);
    else onFile(file);
  };
  for (const input of root.querySelectorAll<HTMLInputElement>('[type="file"]')) {
    input.addEventListener('change', (event) => {
      open(input.files, event);
      // Choosing the same file again must count as a change.
      input.value = '';
    });
  }
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => open(event.dataTransfer?.files, event));
  document.addEventListener('paste', (event) => {
    open(event.clipboardData?.files, event);
    const text = event.clipboardData?.getData('text/plain') ?? '';
    const isInField = event.target instanceof Element && event.target.closest('input, textarea') !== null;
    if (isInField || secondsOf(store.state) === undefined || !isSubtitles(text)) return;
    event.preventDefault();
    setCaptions(text);
  });
  for (const button of sampleButtons(root)) button.addEventListener('click', () => onSample(sampleOf(button)));
  store.watch(['media'], ({ media }) => {
    for (const button of sampleButtons(root)) button.ariaPressed = String(button.dataset['name'] === media?.sample);
  });
}

/** Returns the sample of this name, or the first one. */
export function sampleNamed(root: HTMLElement, name = ''): SampleFile {
  const buttons = sampleButtons(root);
  const button = buttons.find(({ dataset }) => dataset['name'] === name) ?? buttons[0];
  if (button === undefined) throw new Error('the page has no samples');
  return sampleOf(button);
}

function sampleButtons(root: HTMLElement): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>('[data-sample]')];
}

function sampleOf({ dataset }: HTMLElement): SampleFile {
  return { name: dataset['name'] ?? '', url: dataset['sample'] ?? '', alt: dataset['alt'] ?? '' };
}

function isSubtitleFile({ name, type }: File): boolean {
  const types = ['text/vtt', 'application/x-subrip', 'application/json'];
  return /\.(?:srt|vtt|json)$/iu.test(name) || types.includes(type);
}

function isSubtitles(text: string): boolean {
  return text.startsWith('WEBVTT') || /^\s*[{[]/u.test(text) || /\d\d:\d\d[,.]\d{3} --> /u.test(text);
}
