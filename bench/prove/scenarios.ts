import { asyncRenders } from './scenarios/async.ts';
import { cheapRequests } from './scenarios/cheap-requests.ts';
import { brokenDeliveries } from './scenarios/broken-deliveries.ts';
import { clock } from './scenarios/clock.ts';
import { costlyText } from './scenarios/costly-text.ts';
import { costlyWork } from './scenarios/costly-work.ts';
import { database } from './scenarios/database.ts';
import { descriptors } from './scenarios/descriptors.ts';
import { disconnects } from './scenarios/disconnects.ts';
import { fairness } from './scenarios/fairness.ts';
import { fullDisk } from './scenarios/full-disk.ts';
import { hostile } from './scenarios/hostile.ts';
import { overload } from './scenarios/overload.ts';
import { queue } from './scenarios/queue.ts';
import { remoteHosts } from './scenarios/remote-hosts.ts';
import { serverKills } from './scenarios/server-kills.ts';
import { signUp } from './scenarios/sign-up.ts';
import { slowClients } from './scenarios/slow-clients.ts';
import { soak } from './scenarios/soak.ts';
import { unpaidWork } from './scenarios/unpaid-work.ts';
import { watermark } from './scenarios/watermark.ts';
import { wire } from './scenarios/wire.ts';
import { workerKills } from './scenarios/worker-kills.ts';
import type { Scenario } from './world.ts';

/** The scenarios in the order they run. */
export const SCENARIOS: readonly Scenario[] = [
  overload,
  fairness,
  queue,
  cheapRequests,
  costlyText,
  costlyWork,
  slowClients,
  disconnects,
  brokenDeliveries,
  unpaidWork,
  workerKills,
  serverKills,
  asyncRenders,
  remoteHosts,
  fullDisk,
  descriptors,
  database,
  clock,
  signUp,
  wire,
  watermark,
  hostile,
  soak,
];
