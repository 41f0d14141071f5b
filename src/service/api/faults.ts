// The meaning of each field error code. `satisfies Record` makes a missing code a compile error.

import { MAX_CAPTIONS_BYTES, MAX_OVERLAYS, MAX_TEXT_BYTES, MAX_TEXT_GRAPHEMES } from '../../engine/caption/overlay.ts';
import { MAX_WORDS } from '../../engine/caption/words/timed-words.ts';
import type { FaultCode } from '../../shared/errors.ts';

const NUMBER = new Intl.NumberFormat('en');

export const FAULTS = {
  required: 'The field is missing.',
  blank: 'The caption is empty, or has only spaces and invisible characters.',
  too_long: `The caption is longer than ${MAX_TEXT_GRAPHEMES} characters or ${NUMBER.format(MAX_TEXT_BYTES)} bytes of UTF-8.`,
  too_large: `\`captions\` is larger than ${MAX_CAPTIONS_BYTES / 1024 / 1024} MiB (64 KiB in the playground without a key), or another field is larger than 64 KiB.`,
  too_many: `There are more than ${MAX_OVERLAYS} overlays, or more than ${NUMBER.format(MAX_WORDS)} words of captions.`,
  out_of_range: 'The number is too small or too large.',
  not_an_integer: 'The value must be a whole number.',
  wrong_type: 'The value has the wrong type. Send numbers as JSON numbers, not strings.',
  invalid_json: "`overlays` or `style` isn't valid JSON.",
  invalid_encoding: "The field isn't valid UTF-8.",
  invalid_language: "`lang` isn't a BCP 47 language tag such as `ja` or `zh-Hant`.",
  invalid_format: "`format` isn't a known format, or not one for this kind of asset.",
  invalid_choice: "The value isn't one of the allowed names, which `detail` lists.",
  invalid_color: 'The value must be a color such as `#ffcc00`, or `#ffcc0080` with transparency.',
  invalid_captions:
    "`captions` isn't SRT, WebVTT or JSON of a known shape, or a cue or a word of it isn't valid or is over a limit. The pointer " +
    'names the cue or the word.',
  unknown_style: 'The style is neither a preset nor one that your account saved. `detail` has similar names.',
  unknown_font: "The font doesn't exist. `detail` has similar names.",
  unknown_logo: 'Your account has no logo with this id.',
  conflict:
    'Two fields exclude each other, such as `text` and `overlays`, `asset` and `asset_url`, `position` and `overlays`, ' +
    '`put_url` and `deliver`, `captions` and an image, or a `background` and a style without one. Send one of them.',
  duplicate:
    'The field was sent more than once. Only `overlays` may be repeated, with one object each. Or `put_headers` has a header in two ' +
    'spellings.',
  unknown_field: "The field doesn't exist.",
  invalid_url: 'A URL must be an `http` or `https` URL without a password, on port 80, 443 or at least 1024.',
  forbidden_address: "The server doesn't connect to this address; `detail` names the setting.",
} as const satisfies Record<FaultCode, string>;
