// Looks at NATS once, for `storybar doctor`.

import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { must } from '../../../../shared/must.ts';
import { connectionOptions, type QueueAccess } from './queue-access.ts';
import { STREAM } from './wire.ts';

const STREAM_NOT_FOUND = 10_059;
const TIMEOUT_MS = 5_000;

/** `waiting` is undefined if the queue doesn't exist yet. Throws if NATS is unavailable, refuses us or has no JetStream. */
export async function inspectQueue(
  access: QueueAccess,
): Promise<{ readonly version: string; readonly waiting: number | undefined }> {
  const options = { ...connectionOptions(access, 'api-server'), maxReconnectAttempts: 0, ignoreAuthErrorAbort: false };
  const connection = await connect({ ...options, reconnect: false, timeout: TIMEOUT_MS });
  try {
    const { version } = must(connection.info, 'the description of the NATS server');
    const streams = await jetstreamManager(connection, { checkAPI: false, timeout: TIMEOUT_MS });
    const info = await streams.streams.info(STREAM).catch((error: unknown) => {
      if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) return undefined;
      throw error;
    });
    return { version, waiting: info?.state.messages };
  } finally {
    await connection.close();
  }
}
