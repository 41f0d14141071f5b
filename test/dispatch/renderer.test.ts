import { describe } from 'vitest';
import { hasNats, startNats } from '../running-nats.ts';
import { startPools } from './pools.ts';
import { startPair } from './remote-pair.ts';
import { rendererContract } from './renderer-contract.ts';

describe('a renderer with worker processes on this machine', () => {
  rendererContract(async () => startPools());
});

describe.skipIf(!hasNats)('a renderer with workers on other machines (needs nats-server)', () => {
  rendererContract(async () => {
    const nats = await startNats();
    const pools = startPools();
    const pair = await startPair(nats.url, pools.renderer);
    return {
      renderer: pair.apiServer,
      stop: async () => {
        await pair.stop();
        await pools.stop();
        await nats.stop();
      },
    };
  });
});
