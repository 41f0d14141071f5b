// Settings for signing in with Google and GitHub.

import type { Parse } from './parse.ts';
import { setting } from './setting.ts';

/** Requests to these addresses carry secrets, so plain HTTP is allowed only within this machine. */
const providerUrl: Parse<string> = (text) => {
  const fault = 'must be https://host, optionally with a port and a path (http:// is allowed for localhost only)';
  if (!URL.canParse(text)) return { fault };
  const { protocol, hostname, search, hash, username } = new URL(text);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLocal);
  return isSafe && search + hash + username === '' ? { value: text.replace(/\/+$/u, '') } : { fault };
};
const trimmed: Parse<string> = (text) => ({ value: text.trim() });

export const SIGN_IN_SETTINGS = {
  googleClientId: setting(
    'STORYBAR_GOOGLE_CLIENT_ID',
    '',
    'Client ID at Google, to let users sign in with Google; see docs/sign-in-providers.md. Requires STORYBAR_GOOGLE_CLIENT_SECRET and STORYBAR_PUBLIC_URL. Default: no sign-in with Google.',
    trimmed,
  ),
  googleClientSecret: setting('STORYBAR_GOOGLE_CLIENT_SECRET', '', 'Client secret at Google.', trimmed),
  googleIssuer: setting(
    'STORYBAR_GOOGLE_ISSUER',
    'https://accounts.google.com',
    'OpenID Connect issuer for sign-in with Google. Change it only for tests.',
    providerUrl,
  ),
  githubClientId: setting(
    'STORYBAR_GITHUB_CLIENT_ID',
    '',
    'Client ID of an OAuth app at GitHub, to let users sign in with GitHub; see docs/sign-in-providers.md. Requires STORYBAR_GITHUB_CLIENT_SECRET and STORYBAR_PUBLIC_URL. Default: no sign-in with GitHub.',
    trimmed,
  ),
  githubClientSecret: setting(
    'STORYBAR_GITHUB_CLIENT_SECRET',
    '',
    'Client secret of the OAuth app at GitHub.',
    trimmed,
  ),
  githubUrl: setting(
    'STORYBAR_GITHUB_URL',
    'https://github.com',
    'Address of GitHub, or of your GitHub Enterprise Server, whose API is expected at `/api/v3`.',
    providerUrl,
  ),
} as const;
