// Settings for commands that use a server over HTTP, such as `storybar send`.

import { anyText, urlOrEmpty } from './parse.ts';
import { setting } from './setting.ts';

export const CLIENT_SETTINGS = {
  serverUrl: setting(
    'STORYBAR_URL',
    '',
    'Only for `storybar send`, `styles` and `fonts`: the server to use, such as `https://captions.example.com`.',
    urlOrEmpty,
  ),
  apiKey: setting(
    'STORYBAR_API_KEY',
    '',
    'Only for `storybar send`, `styles` and `fonts`: the API key to use.',
    anyText,
  ),
} as const;
