// Play, pause, sound and the position in the video. Visitors must be able to pause anything that plays automatically
// (WCAG 2.2.2).

import { find } from '../elements.ts';

export class Player {
  readonly #root: HTMLElement;
  readonly #play: HTMLButtonElement;
  readonly #mute: HTMLButtonElement;
  readonly #seek: HTMLInputElement;
  readonly #time: HTMLElement;
  readonly #onTime: (seconds: number) => void;
  #video: HTMLVideoElement | undefined;

  constructor(root: HTMLElement, onTime: (seconds: number) => void) {
    this.#root = root;
    this.#onTime = onTime;
    this.#play = find(root, '[data-play]', HTMLButtonElement);
    this.#mute = find(root, '[data-mute]', HTMLButtonElement);
    this.#seek = find(root, '[data-seek]', HTMLInputElement);
    this.#time = find(root, '[data-time]', HTMLElement);
    this.#play.addEventListener('click', () => void this.#playOrPause());
    this.#mute.addEventListener('click', () => {
      if (this.#video) this.#video.muted = !this.#video.muted;
    });
    this.#seek.addEventListener('input', () => {
      this.#video?.pause();
      if (this.#video) this.#video.currentTime = Number(this.#seek.value);
    });
  }

  /** Undefined hides the controls. */
  show(video: HTMLVideoElement | undefined): void {
    this.#root.hidden = video === undefined;
    if (this.#video === video) return;
    this.#video?.pause();
    this.#video = video;
    if (video === undefined) return;
    this.#seek.max = String(video.duration);
    const update = (): void => this.#update();
    for (const event of ['play', 'pause', 'timeupdate', 'seeked', 'volumechange'])
      video.addEventListener(event, update);
    video.addEventListener('play', () => this.#follow(video));
    if (!video.paused) this.#follow(video);
    update();
  }

  /** Returns seconds from the start, 0 without a video. */
  get time(): number {
    return this.#video?.currentTime ?? 0;
  }

  /** `timeupdate` fires only a few times per second. */
  #follow(video: HTMLVideoElement): void {
    if (video !== this.#video || video.paused) return;
    this.#onTime(video.currentTime);
    requestAnimationFrame(() => this.#follow(video));
  }

  async #playOrPause(): Promise<void> {
    if (this.#video === undefined) return;
    if (this.#video.paused) await this.#video.play();
    else this.#video.pause();
  }

  #update(): void {
    const video = this.#video;
    if (video === undefined) return;
    this.#play.textContent = video.paused ? 'Play' : 'Pause';
    this.#mute.textContent = video.muted ? 'Sound on' : 'Sound off';
    this.#seek.value = String(video.currentTime);
    this.#onTime(video.currentTime);
    this.#seek.setAttribute(
      'aria-valuetext',
      `${video.currentTime.toFixed(1)} of ${video.duration.toFixed(1)} seconds`,
    );
    this.#time.textContent = `${video.currentTime.toFixed(1)} / ${video.duration.toFixed(1)} s`;
  }
}
