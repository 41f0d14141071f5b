// A worker process whose renders only sleep. Usage: sleeping-worker.ts <NATS URL> <directory> <render ms> <output bytes>

import { WorkerNode } from '../../src/service/dispatch/remote/worker/worker-node.ts';
import { WorkArea } from '../../src/engine/media/work-area.ts';
import { sleepingRenderer } from './sleeping-renderer.ts';

const [natsUrl = '', directory = '', renderMs = '100', outputBytes = '1000'] = process.argv.slice(2);

const node = new WorkerNode({
  name: `sleeper-${process.pid}`,
  version: '1.0.0',
  queue: { url: natsUrl, credentialsFile: '', authoritiesFile: '', replicas: 1 },
  slots: { image: 1, video: 0 },
  renderer: sleepingRenderer(Number(renderMs), Number(outputBytes)),
  workArea: await WorkArea.open(directory),
  onError: (error) => console.error(error),
  onEvent: ({ type }) => {
    if (type === 'connected') process.send?.('connected');
  },
});
process.on('message', () => process.send?.(node.status().busy.image));
process.on('disconnect', () => process.exit(0));
