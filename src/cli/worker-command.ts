// `storybar worker` renders for API servers on other machines. It needs access to NATS, but not to the database or to keys.

import { readSettings, SettingsError } from '../service/config/settings.ts';
import { startWorkerNode } from '../main/start-worker-node.ts';
import { stopOnSignals } from '../main/stop-on-signals.ts';
import { VERSION } from '../main/version.ts';
import { HELP_OPTION, readCommand } from './parse-options.ts';

const COMMAND = {
  name: 'worker',
  help: `Renders for API servers on other machines. Settings come from the environment:
  STORYBAR_NATS_URL        NATS servers that hold the queue (required)
  STORYBAR_WORKERS         concurrent renders of images
  STORYBAR_VIDEO_WORKERS   concurrent renders of videos
  STORYBAR_DATA_DIR        directory for assets during a render
  HOST, PORT               address of GET /health and GET /metrics
See docs/configuration.md and docs/operating.md.`,
  options: { help: HELP_OPTION },
} as const;

export async function workerCommand(args: string[]): Promise<void> {
  if (readCommand(COMMAND, args) === undefined) return;
  const settings = readSettings();
  if (settings.natsUrl === '') throw new SettingsError(['STORYBAR_NATS_URL is required for a worker']);
  if (settings.workers + settings.videoWorkers === 0) {
    throw new SettingsError(['STORYBAR_WORKERS and STORYBAR_VIDEO_WORKERS must not both be 0']);
  }
  const worker = await startWorkerNode(settings);
  // Running renders may finish within their deadlines. A second signal ends the process immediately. This comes before
  // the line below, which some programs wait for before they send a signal.
  stopOnSignals(async () => await worker.drain());
  process.stdout.write(`Storybar ${VERSION} worker, health on ${worker.url}/health\n`);
}
