// Captions from speech: the sound of a video goes to the operator's transcription service, and the transcript takes the place
// of `captions=auto` in the request. A worker extracts the sound and is free for others while the service works.

import { rm } from 'node:fs/promises';
import type { Caller } from '../account/caller.ts';
import { needsVideo } from '../../engine/caption/captions-field.ts';
import type { Overlay } from '../../engine/caption/overlay.ts';
import {
  type SoundTrack,
  type SpokenTranscript,
  spokenTranscript,
  UnusableTranscript,
} from '../../engine/caption/words/spoken.ts';
import { transcriptLanguage } from '../../engine/caption/words/transcript-language.ts';
import type { Lease } from '../dispatch/renderer.ts';
import { AppError } from '../../shared/errors.ts';
import { isTranscriptionFailure, type TranscriptionService } from '../fetch/transcription-service.ts';
import type { UnpaidTranscripts } from '../limits/unpaid-transcripts.ts';
import type { Asset } from '../../engine/media/asset.ts';
import type { LazyDirectory } from '../../engine/media/work-area.ts';
import { must } from '../../shared/must.ts';
import type { BaseLayer } from '../../engine/render/compose.ts';
import type { RecipeOf } from '../../engine/render/recipe-schema.ts';
import type { RenderWarning } from '../../engine/render/warnings.ts';
import type { Speech } from './parse.ts';
import { sampleTranscript } from './sample-transcript.ts';

/** The transcript of a render that outlives its request, and therefore this server. */
export interface KeptTranscript {
  /** Set if an earlier attempt has made it. */
  readonly transcript: SpokenTranscript | undefined;
  save(transcript: SpokenTranscript): Promise<void>;
}

/** A render whose captions come from speech. */
export interface SpokenRender {
  readonly renderId: string;
  readonly caller: Caller;
  readonly speech: Speech;
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
  /** The number of words that were left out, because they were probably not said. */
  readonly uncertainWords: number;
}

export class SpeechCaptions {
  readonly #service: TranscriptionService | undefined;
  readonly #unpaid: UnpaidTranscripts;

  /** Without a service, captions from speech are refused. */
  constructor(service: TranscriptionService | undefined, unpaid: UnpaidTranscripts) {
    this.#service = service;
    this.#unpaid = unpaid;
  }

  /** Throws if the request needs a transcript that its caller can't have now. */
  assertAvailable(caller: Caller, { speech }: { readonly speech: Speech | undefined }): void {
    if (speech === undefined) return;
    this.#serviceFor(caller);
    if (caller.mode !== 'test') this.#unpaid.assertFew(caller);
  }

  /** Starts the captions of one render. */
  open(render: SpokenRender): RenderSpeech {
    return new RenderSpeech(this.#serviceFor(render.caller), this.#unpaid, render);
  }

  /** Called when a render with captions from speech is over. Never rejects. */
  async end(account: Pick<Caller, 'accountId'>, renderId: string, isPaid: boolean): Promise<void> {
    await this.#unpaid.end(account, renderId, isPaid);
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

  constructor(service: TranscriptionService, unpaid: UnpaidTranscripts, render: SpokenRender) {
    this.#service = service;
    this.#unpaid = unpaid;
    this.#render = render;
  }

  async captions(tools: SpeechTools, sound: RecipeOf<'sound'>): Promise<SpokenCaptions> {
    const { speech, caller } = this.#render;
    if (caller.mode === 'test') {
      const sample = sampleTranscript(sound.seconds);
      return this.#captionsOf(sample, await speech.overlaysFor(sample), ['sample_transcript']);
    }
    const { transcript, overlays } = await this.#transcript(tools, sound);
    return this.#captionsOf(transcript, overlays, warningsAbout(transcript, speech.lang));
  }

  #captionsOf(
    { language, uncertainWords = 0 }: SpokenTranscript,
    overlays: readonly Overlay[],
    warnings: readonly RenderWarning[],
  ): SpokenCaptions {
    return { overlays, language: transcriptLanguage(language) ?? this.#render.speech.lang, warnings, uncertainWords };
  }

  /** The transcript is kept at once, so that a crash afterwards doesn't cost another one. */
  async #transcript(tools: SpeechTools, sound: RecipeOf<'sound'>): Promise<ShownTranscript> {
    const { speech, kept } = this.#render;
    if (kept?.transcript) return { transcript: kept.transcript, overlays: await speech.overlaysFor(kept.transcript) };
    const shown = await this.#transcribe(tools, sound);
    if (shown === undefined) {
      throw new AppError('no_speech', 'No words were found in the sound of the video. Nothing was charged.');
    }
    await kept?.save(shown.transcript);
    return shown;
  }

  /** Returns undefined if nothing is said. A silent track isn't sent. */
  async #transcribe(
    { lease, directory, signal, asset, onWaiting }: SpeechTools,
    sound: RecipeOf<'sound'>,
  ): Promise<ShownTranscript | undefined> {
    // Extracting the sound would be in vain.
    this.#service.assertAvailable();
    this.#unpaid.assertFew(this.#render.caller);
    await directory.make();
    const file = directory.file('sound');
    try {
      const facts = await lease.render({ recipe: sound, asset, output: file });
      const track = { seconds: sound.seconds, audible: must(facts.audible, 'the measurement of the sound') };
      if (!track.audible.includes('1')) return undefined;
      lease.leave();
      onWaiting?.();
      return await this.#send(file, track, signal);
    } finally {
      await rm(file, { force: true });
    }
  }

  /** What costs money is counted when it starts. */
  async #send(file: string, track: SoundTrack, signal: AbortSignal): Promise<ShownTranscript | undefined> {
    const { renderId, caller, speech } = this.#render;
    await this.#unpaid.take(caller, renderId, signal);
    let isSent = false;
    const onSend = (): void => {
      isSent = true;
    };
    try {
      const request = { file, language: speech.lang, onSend };
      return await this.#service.transcribe(
        request,
        async (heard) => await shownTranscript(spokenTranscript(heard, track), speech),
        signal,
      );
    } catch (error) {
      if (!isSent || isTranscriptionFailure(error)) await this.#unpaid.end(caller, renderId, true);
      throw error;
    }
  }
}

/** A transcript, and the captions that it becomes. */
interface ShownTranscript {
  readonly transcript: SpokenTranscript;
  readonly overlays: readonly Overlay[];
}

/** The request itself has no faults, so faults are those of the service. */
async function shownTranscript(
  transcript: SpokenTranscript | undefined,
  speech: Speech,
): Promise<ShownTranscript | undefined> {
  if (transcript === undefined) return undefined;
  try {
    return { transcript, overlays: await speech.overlaysFor(transcript) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const codes = [...new Set(error.faults?.map(({ code }) => code))].join(', ');
    throw new UnusableTranscript(`returned a transcript that can't become captions (${codes || error.code})`);
  }
}

function warningsAbout(transcript: SpokenTranscript, lang: string | undefined): RenderWarning[] {
  const heard = transcriptLanguage(transcript.language);
  const isOther = lang !== undefined && heard !== undefined && primaryOf(lang) !== primaryOf(heard);
  return [
    ...(transcript.uncertainWords === undefined ? [] : (['speech_uncertain'] as const)),
    ...(isOther ? (['language_differs'] as const) : []),
    ...(transcript.hasCutWords ? (['words_cut'] as const) : []),
  ];
}

/** The language of a tag, without its script and region. */
function primaryOf(tag: string): string | undefined {
  return tag.toLowerCase().split('-', 1)[0];
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
