import { describe } from 'vitest';
import { hasNats, startNats } from '../running-nats.ts';
import { startCrews } from './crews.ts';
import { startPair } from './remote-pair.ts';
import { rendererContract } from './renderer-contract.ts';

describe('a renderer in worker processes', () => {
  rendererContract(async () => {
    return startCrews();
  });
});

describe.skipIf(!hasNats)('a renderer behind a queue (needs nats-server)', () => {
  rendererContract(async () => {
    const nats = await startNats();
    const crews = startCrews();
    const pair = await startPair(nats.url, crews.renderer);
    return {
      renderer: pair.front,
      stop: async () => {
        await pair.stop();
        await crews.stop();
        await nats.stop();
      },
    };
  });
});
