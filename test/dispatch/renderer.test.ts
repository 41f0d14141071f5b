import { describe } from 'vitest';
import { hasNats, startNats } from '../running-nats.ts';
import { startPools } from './pools.ts';
import { startPair } from './remote-pair.ts';
import { rendererContract } from './renderer-contract.ts';

describe('a renderer in worker processes', () => {
  rendererContract(async () => {
    return startPools();
  });
});

describe.skipIf(!hasNats)('a renderer behind a queue (needs nats-server)', () => {
  rendererContract(async () => {
    const nats = await startNats();
    const pools = startPools();
    const pair = await startPair(nats.url, pools.renderer);
    return {
      renderer: pair.front,
      stop: async () => {
        await pair.stop();
        await pools.stop();
        await nats.stop();
      },
    };
  });
});
