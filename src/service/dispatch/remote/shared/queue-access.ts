// Connects to NATS and authenticates.

import { readFileSync } from 'node:fs';
import { credsAuthenticator, errors, type NodeConnectionOptions } from '@nats-io/transport-node';

export interface QueueAccess {
  /** One or more URLs, separated by commas: `nats://host:4222`, `tls://user:password@host`. */
  readonly url: string;
  /** Path of a credentials file, or empty. */
  readonly credentialsFile: string;
  /** Path of a file with CA certificates to trust, or empty for those that Node.js trusts. */
  readonly authoritiesFile: string;
  /** The number of servers in a cluster that keep the queue. Applies when Storybar creates it. */
  readonly replicas: number;
}

export type BrokerRole = 'api-server' | 'worker';

/**
 * The prefixes are part of the permissions in `deploy/nats.conf` and in operators' own configurations, so they must not
 * change.
 */
const INBOX_PREFIXES: Readonly<Record<BrokerRole, string>> = {
  'api-server': '_INBOX.front',
  worker: '_INBOX.worker',
};

const RECONNECT_INTERVAL_MS = 250;
/** The timeout for servers that accept a connection and then send nothing. */
const CONNECT_TIMEOUT_MS = 5_000;
/** A connection is closed when this many pings get no response, because a broken network wouldn't report anything. */
const PING_INTERVAL_MS = 2_000;
const MAX_PINGS_OUT = 2;

/** Removes credentials from the URL, because the NATS client expects them separately. */
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
    inboxPrefix: INBOX_PREFIXES[role],
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_INTERVAL_MS,
    timeout: CONNECT_TIMEOUT_MS,
    // A rejected password may be fixed on the server while this process runs.
    ignoreAuthErrorAbort: true,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: MAX_PINGS_OUT,
    ...(isSecure && { tls: authoritiesFile === '' ? {} : { caFile: authoritiesFile } }),
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...(credentialsFile !== '' && { authenticator: credsAuthenticator(() => readFileSync(credentialsFile)) }),
  };
}

/** Returns true if NATS rejects our credentials. */
export function isAuthError(error: unknown): boolean {
  return error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError;
}

/** Returns true if NATS denies permission for one operation. */
export function isForbidden(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof errors.PermissionViolationError;
}
