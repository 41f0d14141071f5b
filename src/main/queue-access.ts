import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type Settings, SettingsError } from '../config/settings.ts';
import type { QueueAccess } from '../dispatch/remote/shared/queue-access.ts';
import { messageOf } from './message-of.ts';

/** A broker that is away may come back; a file that is not there, or not what it should be, will not by itself. */
export function queueAccess(settings: Settings): QueueAccess {
  const faults = [
    ...faultsOf('STORYBAR_NATS_CREDS', settings.natsCredentials, '-----BEGIN NATS USER JWT-----'),
    ...faultsOf('STORYBAR_NATS_CA', settings.natsAuthorities, '-----BEGIN CERTIFICATE-----'),
    ...faultsOfNames(settings),
  ];
  if (faults.length > 0) throw new SettingsError(faults);
  return {
    url: settings.natsUrl,
    credentialsFile: settings.natsCredentials,
    authoritiesFile: settings.natsAuthorities,
    replicas: settings.natsReplicas,
  };
}

/** A certificate is checked against the name in the address; our library would check one for `localhost` instead. */
function faultsOfNames({ natsUrl, natsAuthorities }: Settings): string[] {
  const urls = natsUrl.split(',').map((url) => new URL(url));
  const isSecure = natsAuthorities !== '' || urls.some(({ protocol }) => protocol === 'tls:');
  if (!isSecure || !urls.some(({ hostname }) => isIP(hostname.replaceAll(/[[\]]/gu, '')) !== 0)) return [];
  return ['STORYBAR_NATS_URL must give names, not addresses, of servers that prove themselves by certificate'];
}

function faultsOf(variable: string, file: string, mark: string): string[] {
  if (file === '') return [];
  try {
    return readFileSync(file, 'utf8').includes(mark) ? [] : [`${variable} names a file without "${mark}"`];
  } catch (error) {
    return [`${variable} names a file that cannot be read: ${messageOf(error)}`];
  }
}
