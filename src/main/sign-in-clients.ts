// The sign-in providers that the operator has configured.

import { type Settings, SettingsError, type SignInSettings } from '../service/config/settings.ts';
import { GitHubClient } from '../site/providers/github.ts';
import { GoogleClient } from '../site/providers/google.ts';
import type { Throttle } from '../site/identity/throttle.ts';
import type { ProviderClient } from '../site/providers/provider-client.ts';
import { ProviderSignIn } from '../site/providers/provider-sign-in.ts';
import type { Store } from '../service/store/store.ts';
import type { Logger } from '../service/telemetry/logger.ts';

/** A provider needs both credentials, and sends users back only to an address that is registered there. */
export function assertSignInSettings(settings: SignInSettings & Pick<Settings, 'publicUrl'>): void {
  const faults = [
    ...faultsOf('STORYBAR_GOOGLE', settings.googleClientId, settings.googleClientSecret, settings.publicUrl),
    ...faultsOf('STORYBAR_GITHUB', settings.githubClientId, settings.githubClientSecret, settings.publicUrl),
  ];
  if (faults.length > 0) throw new SettingsError(faults);
}

export function createProviderSignIn(
  settings: SignInSettings & Pick<Settings, 'signUp' | 'operatorEmail'>,
  { users, linkedIdentities: identities }: Store,
  logger: Logger,
  throttle: Throttle,
): ProviderSignIn {
  return new ProviderSignIn({
    throttle,
    clients: signInClients(settings),
    users,
    identities,
    signUpOpen: settings.signUp !== 'closed',
    trustsSignUps: settings.signUp === 'trusted',
    operatorEmail: settings.operatorEmail,
    onFailed: (provider, reason, requestId) => {
      logger.warn({ requestId, provider, reason }, 'sign-in provider failed');
    },
  });
}

export function signInClients(settings: SignInSettings): ProviderClient[] {
  const { googleClientId, googleClientSecret, googleIssuer } = settings;
  const { githubClientId, githubClientSecret, githubUrl } = settings;
  return [
    ...(googleClientId === ''
      ? []
      : [new GoogleClient({ clientId: googleClientId, clientSecret: googleClientSecret }, googleIssuer)]),
    ...(githubClientId === ''
      ? []
      : [new GitHubClient({ clientId: githubClientId, clientSecret: githubClientSecret }, githubUrl)]),
  ];
}

function faultsOf(prefix: string, clientId: string, clientSecret: string, publicUrl: string): string[] {
  if (clientId === '' && clientSecret === '') return [];
  return [
    ...(clientId === '' ? [`${prefix}_CLIENT_ID is required when ${prefix}_CLIENT_SECRET is set`] : []),
    ...(clientSecret === '' ? [`${prefix}_CLIENT_SECRET is required when ${prefix}_CLIENT_ID is set`] : []),
    ...(publicUrl === '' ? [`STORYBAR_PUBLIC_URL is required when ${prefix}_CLIENT_ID is set`] : []),
  ];
}
