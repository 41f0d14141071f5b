import { describe, expect, it } from 'vitest';
import { ResourceStack } from './resource-stack.ts';

describe('what has been opened', () => {
  it('is closed in reverse, each after the one before, and once', async () => {
    const opened = new ResourceStack();
    const order: string[] = [];
    for (const name of ['store', 'workers', 'pages']) {
      opened.add({
        close: async () => {
          order.push(`${name} closes`);
          await Promise.resolve();
          order.push(`${name} closed`);
        },
      });
    }
    await opened.close();
    await opened.close();
    expect(order).toEqual([
      'pages closes',
      'pages closed',
      'workers closes',
      'workers closed',
      'store closes',
      'store closed',
    ]);
  });
});
