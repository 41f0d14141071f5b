// Play, pause, sound and the position in the video. Visitors must be able to pause anything that plays automatically
// (WCAG 2.2.2). A clip without a video, and a video that the browser can't play, have a clock of their own.

import { find } from '../elements.ts';
import type { Editor } from './editor.ts';
import { draftOf, secondsOf, type State } from './state.ts';

/** The video that is on the stage, if the browser plays it. */
function videoOf(state: Pick<State, 'history' | 'media'>): HTMLVideoElement | undefined {
  const element = state.media?.element;
  const isHidden = draftOf(state).fields['overlay_only'] !== undefined;
  return element instanceof HTMLVideoElement && !isHidden ? element : undefined;
}

/** Shows the frame at this time, and stops there. */
export function seek(store: Editor, time: number): void {
  const video = videoOf(store.state);
  store.update({ isPlaying: false, time });
  if (video) video.currentTime = time;
}

export function player(store: Editor, root: HTMLElement): void {
  const play = find(root, '[data-play]', HTMLButtonElement);
  const mute = find(root, '[data-mute]', HTMLButtonElement);
  const slider = find(root, '[data-seek]', HTMLInputElement);
  let running = 0;
  play.addEventListener('click', () => store.update({ isPlaying: !store.state.isPlaying }));
  mute.addEventListener('click', () => {
    const video = videoOf(store.state);
    if (video) video.muted = !video.muted;
    drawMute();
  });
  slider.addEventListener('input', () => seek(store, Number(slider.value)));

  function drawMute(): void {
    const video = videoOf(store.state);
    mute.hidden = video === undefined;
    mute.textContent = video?.muted === false ? 'Sound off' : 'Sound on';
  }

  /** Follows the clock until the visitor pauses or opens something else. */
  function follow(run: number, before: number): void {
    const { state } = store;
    const seconds = secondsOf(state);
    if (run !== running || seconds === undefined) return;
    const now = performance.now();
    const time = videoOf(state)?.currentTime ?? (state.time + (now - before) / 1_000) % seconds;
    if (time !== state.time) store.update({ time });
    requestAnimationFrame(() => follow(run, now));
  }

  let playing: HTMLVideoElement | undefined;
  store.watch(['isPlaying', 'media', 'history'], (state) => {
    const seconds = secondsOf(state);
    const video = videoOf(state);
    root.hidden = seconds === undefined;
    if (playing !== video) playing?.pause();
    playing = video;
    const isPlaying = state.isPlaying && seconds !== undefined;
    play.textContent = isPlaying ? 'Pause' : 'Play';
    slider.max = String(seconds ?? 1);
    drawMute();
    if (!isPlaying) {
      running = 0;
      video?.pause();
    } else if (running === 0 || video?.paused === true) {
      // The browser may not allow it before the first click.
      video?.play().catch(() => store.update({ isPlaying: false }));
      running = performance.now();
      follow(running, running);
    }
  });
  store.watch(['time', 'history', 'media'], (state) => {
    const seconds = secondsOf(state) ?? 0;
    slider.value = String(state.time);
    slider.setAttribute('aria-valuetext', `${state.time.toFixed(1)} of ${seconds.toFixed(1)} seconds`);
    find(root, '[data-time]', HTMLElement).textContent = `${state.time.toFixed(1)} / ${seconds.toFixed(1)} s`;
  });
}
