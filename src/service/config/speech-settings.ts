// Settings of captions from speech.

import { anyText, requestUrl, wholeNumber } from './parse.ts';
import { setting } from './setting.ts';

export const SPEECH_SETTINGS = {
  transcribeUrl: setting(
    'STORYBAR_TRANSCRIBE_URL',
    '',
    'Full address of a transcription service that is compatible with OpenAI, such as `https://api.openai.com/v1/audio/transcriptions`, for `captions=auto`. It may be private. The sound of such videos is sent there. Default: none; such requests get 400 `transcription_disabled`.',
    requestUrl,
  ),
  transcribeKey: setting(
    'STORYBAR_TRANSCRIBE_KEY',
    '',
    'API key of the transcription service, sent as a bearer token. Default: none.',
    anyText,
  ),
  transcribeModel: setting(
    'STORYBAR_TRANSCRIBE_MODEL',
    'whisper-1',
    'Model that the transcription service is asked for. It must return the times of words.',
    anyText,
  ),
  transcribeSeconds: setting(
    'STORYBAR_TRANSCRIBE_SECONDS',
    '120',
    'Time limit for one transcription, in seconds. A slower one gets 502 `transcription_failed`.',
    wholeNumber(1, 3_600),
  ),
  transcribeConcurrency: setting(
    'STORYBAR_TRANSCRIBE_CONCURRENCY',
    '4',
    'Transcriptions that each API server requests at once. Further ones wait for their turn.',
    wholeNumber(1, 1_000),
  ),
} as const;
