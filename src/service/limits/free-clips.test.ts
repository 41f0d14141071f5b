import { describe, expect, it } from 'vitest';
import { LocalLimits } from './local-limits.ts';
import { FreeClips } from './free-clips.ts';

describe('free clips', () => {
  it('a visitor who was refused because all clips of the day were used up keeps the free clip', async () => {
    const limits = new LocalLimits();
    const clips = new FreeClips(limits, 1);
    await clips.take('192.0.2.1');
    await expect(clips.take('192.0.2.2')).rejects.toThrow('The free videos of today are used up.');
    await limits.giveBack('clips', { burst: 1, windowMs: 24 * 60 * 60_000 });
    await clips.take('192.0.2.2');
    await expect(clips.take('192.0.2.2')).rejects.toThrow('one video per day is free');
  });
});
