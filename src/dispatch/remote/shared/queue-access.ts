// How to reach NATS and be let in.

import { readFileSync } from 'node:fs';
import { credsAuthenticator, errors, type NodeConnectionOptions } from '@nats-io/transport-node';

export interface QueueAccess {
  /** One or more, separated by commas: `nats://host:4222`, `tls://user:password@host`. */
  readonly url: string;
  /** A credentials file, or empty. */
  readonly credentialsFile: string;
  /** Certificates of the authorities that vouch for the servers, or empty: those everybody trusts. */
  readonly authoritiesFile: string;
  /** On how many servers of a cluster the queue is kept, where it is made by us. */
  readonly replicas: number;
}

export type BrokerRole = 'front' | 'worker';

const RECONNECT_PAUSE_MS = 250;
/** A server that takes the connection and says nothing is no better than none. */
const HANDSHAKE_MS = 5_000;
/** A connection that fails to answer this often, this far apart, is given up: a broken network says nothing. */
const PING_INTERVAL_MS = 2_000;
const MAX_PINGS_OUT = 2;

/** Credentials in the address, as everybody writes them; the library wants them apart. */
export function connectionOptions(
  { url, credentialsFile, authoritiesFile }: QueueAccess,
  role: BrokerRole,
): NodeConnectionOptions {
  const urls = url.split(',').map((part) => new URL(part.includes('://') ? part.trim() : `nats://${part.trim()}`));
  const { username = '', password = '' } = urls[0] ?? {};
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const isSecure = authoritiesFile !== '' || urls.some(({ protocol }) => protocol === 'tls:');
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || '4222'}`),
    name: `storybar ${role}`,
    inboxPrefix: `_INBOX.${role}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_PAUSE_MS,
    timeout: HANDSHAKE_MS,
    // Passwords change while we run; whoever gave up then would have to be started anew.
    ignoreAuthErrorAbort: true,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: MAX_PINGS_OUT,
    ...(isSecure && { tls: authoritiesFile === '' ? {} : { caFile: authoritiesFile } }),
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...(credentialsFile !== '' && { authenticator: credsAuthenticator(() => readFileSync(credentialsFile)) }),
  };
}

/** The broker does not let us in; nothing that time alone would mend. */
export function isRefusal(error: unknown): boolean {
  return error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError;
}

/** The broker does not let us do this one thing. */
export function isForbidden(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof errors.PermissionViolationError;
}
