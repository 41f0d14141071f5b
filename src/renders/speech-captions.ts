// Captions from speech: the sound of a video goes to the operator's transcription service, and the transcript takes the place
// of `captions=auto` in the request. A worker extracts the sound and is free for others while the service works.

import { rm } from 'node:fs/promises';
import type { Caller } from '../account/caller.ts';
import { needsVideo } from '../caption/captions-field.ts';
import type { Speech } from '../caption/form.ts';
import type { Overlay } from '../caption/overlay.ts';
import { type SpokenTranscript, spokenTranscript } from '../caption/words/spoken.ts';
import { transcriptLanguage } from '../caption/words/transcript-language.ts';
import type { Lease } from '../dispatch/renderer.ts';
import { AppError } from '../errors.ts';
import type { TranscriptionService } from '../fetch/transcription-service.ts';
import type { UnpaidTranscripts } from '../limits/unpaid-transcripts.ts';
import type { Asset } from '../media/asset.ts';
import type { LazyDirectory } from '../media/work-area.ts';
import type { BaseLayer } from '../render/compose.ts';
import type { RecipeOf } from '../render/recipe-schema.ts';
import type { RenderWarning } from '../render/warnings.ts';
import { sampleTranscript } from './sample-transcript.ts';

/** The transcript of a render that outlives its request, and therefore this server. */
export interface KeptTranscript {
  /** Set if an earlier attempt has made it. */
  readonly transcript: SpokenTranscript | undefined;
  save(transcript: SpokenTranscript): Promise<void>;
}

/** A render whose captions come from speech. */
export interface SpokenRender {
  readonly caller: Caller;
  readonly speech: Speech;
  /** True if the render is free because it was already paid for. */
  readonly isReplay: boolean;
  readonly kept?: KeptTranscript | undefined;
}

/** What a render has while it runs. */
export interface SpeechTools {
  readonly lease: Pick<Lease, 'render' | 'leave'>;
  readonly directory: LazyDirectory;
  readonly signal: AbortSignal;
  readonly asset: Asset;
  /** Called when the render waits for the service. */
  readonly onWaiting?: (() => void) | undefined;
}

export interface SpokenCaptions {
  readonly overlays: readonly Overlay[];
  /** A BCP 47 tag. Undefined if the service names none. */
  readonly language: string | undefined;
  readonly warnings: readonly RenderWarning[];
}

export class SpeechCaptions {
  readonly #service: TranscriptionService | undefined;
  readonly #unpaid: UnpaidTranscripts;

  /** Without a service, captions from speech are refused. */
  constructor(service: TranscriptionService | undefined, unpaid: UnpaidTranscripts) {
    this.#service = service;
    this.#unpaid = unpaid;
  }

  /** Throws if the request needs a transcript that its caller can't have. */
  assertAvailable(caller: Caller, { speech }: { readonly speech: Speech | undefined }): void {
    if (speech === undefined) return;
    this.#serviceFor(caller);
    this.#unpaid.assertFew(caller);
  }

  /** Starts the captions of one render. */
  open(render: SpokenRender): RenderSpeech {
    return new RenderSpeech(this.#serviceFor(render.caller), this.#unpaid, render);
  }

  /** Counts a transcript that nothing was charged for. */
  async countUnpaid(caller: Pick<Caller, 'accountId'>): Promise<void> {
    await this.#unpaid.count(caller);
  }

  #serviceFor({ plan }: Pick<Caller, 'plan'>): TranscriptionService {
    if (this.#service === undefined) throw disabled('This server has no transcription service.');
    if (!plan.speech) throw disabled(`The plan ${plan.title} has no captions from speech.`);
    return this.#service;
  }
}

export class RenderSpeech {
  readonly #service: TranscriptionService;
  readonly #unpaid: UnpaidTranscripts;
  readonly #render: SpokenRender;
  #isTranscribed = false;

  constructor(service: TranscriptionService, unpaid: UnpaidTranscripts, render: SpokenRender) {
    this.#service = service;
    this.#unpaid = unpaid;
    this.#render = render;
  }

  /** Called when the render ended without a charge. */
  async endUnpaid(): Promise<void> {
    if (this.#isTranscribed) await this.#unpaid.count(this.#render.caller);
    this.#isTranscribed = false;
  }

  async captions(tools: SpeechTools, sound: RecipeOf<'sound'>): Promise<SpokenCaptions> {
    const { speech, caller } = this.#render;
    const isSample = caller.mode === 'test';
    const transcript = isSample ? sampleTranscript(sound.seconds) : await this.#transcript(tools, sound);
    return {
      overlays: speech.overlaysFor(transcript),
      language: transcriptLanguage(transcript.language) ?? speech.lang,
      warnings: isSample ? ['sample_transcript'] : [],
    };
  }

  /** The transcript is kept at once, so that a crash afterwards doesn't cost another one. */
  async #transcript(tools: SpeechTools, sound: RecipeOf<'sound'>): Promise<SpokenTranscript> {
    const { caller, isReplay, kept } = this.#render;
    if (kept?.transcript) return kept.transcript;
    this.#unpaid.assertFew(caller);
    const heard = await this.#transcribe(tools, sound);
    const transcript = spokenTranscript(heard, sound.seconds);
    if (transcript === undefined || isReplay) await this.#unpaid.count(caller);
    else this.#isTranscribed = true;
    if (transcript === undefined) {
      throw new AppError('no_speech', 'No words were found in the sound of the video. Nothing was charged.');
    }
    await kept?.save(transcript);
    return transcript;
  }

  async #transcribe({ lease, directory, signal, asset, onWaiting }: SpeechTools, sound: RecipeOf<'sound'>) {
    await directory.make();
    const file = directory.file('sound');
    try {
      await lease.render({ recipe: sound, asset, output: file });
      lease.leave();
      onWaiting?.();
      return await this.#service.transcribe({ file, language: this.#render.speech.lang }, signal);
    } finally {
      await rm(file, { force: true });
    }
  }
}

/** Throws unless the file is a video with sound. Returns the seconds of its sound. */
export function speechSecondsOf(base: BaseLayer): number {
  if (base.kind !== 'video') throw needsVideo();
  const { audio, durationSeconds, isAudioDropped } = base;
  if (audio) return Math.min(durationSeconds, audio.end - audio.start);
  const why = isAudioDropped === true ? "sound that can't be decoded" : 'no sound';
  throw new AppError('no_sound', `The video has ${why}. Captions from speech need sound. Nothing was charged.`);
}

function disabled(reason: string): AppError {
  return new AppError(
    'transcription_disabled',
    `${reason} Send a transcript or subtitles in captions instead of auto.`,
  );
}
