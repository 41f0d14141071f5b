import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ClusterSettings, SettingsError } from '../service/config/settings.ts';
import type { QueueAccess } from '../service/dispatch/remote/shared/queue-access.ts';
import { messageOf } from '../shared/error-facts.ts';

/** Checks the files at startup. NATS may become reachable later, but a wrong file stays wrong. */
export function queueAccess(settings: ClusterSettings): QueueAccess {
  const faults = [
    ...fileFaults('STORYBAR_NATS_CREDS', settings.natsCredentials, '-----BEGIN NATS USER JWT-----'),
    ...fileFaults('STORYBAR_NATS_CA', settings.natsAuthorities, '-----BEGIN CERTIFICATE-----'),
    ...hostNameFaults(settings),
  ];
  if (faults.length > 0) throw new SettingsError(faults);
  return {
    url: settings.natsUrl,
    credentialsFile: settings.natsCredentials,
    authoritiesFile: settings.natsAuthorities,
    replicas: settings.natsReplicas,
  };
}

/** Returns the hosts for logs, because the URLs may contain passwords. */
export function natsHosts({ natsUrl }: Pick<ClusterSettings, 'natsUrl'>): string[] {
  return natsUrl.split(',').map((url) => new URL(url).host);
}

/** With an IP address in the URL, the NATS client would check the certificate for `localhost`. */
function hostNameFaults({ natsUrl, natsAuthorities }: ClusterSettings): string[] {
  const urls = natsUrl.split(',').map((url) => new URL(url));
  const isSecure = natsAuthorities !== '' || urls.some(({ protocol }) => protocol === 'tls:');
  if (!isSecure || !urls.some(({ hostname }) => isIP(hostname.replaceAll(/[[\]]/gu, '')) !== 0)) return [];
  return ['STORYBAR_NATS_URL must give names instead of IP addresses of servers that use TLS'];
}

function fileFaults(variable: string, file: string, mark: string): string[] {
  if (file === '') return [];
  try {
    return readFileSync(file, 'utf8').includes(mark) ? [] : [`${variable} names a file without "${mark}"`];
  } catch (error) {
    return [`${variable} names a file that cannot be read: ${messageOf(error)}`];
  }
}
