import { describe, expect, it } from 'vitest';
import { openAll, ResourceStack } from './resource-stack.ts';

/**
 * Returns a stack of these resources. `log` tells when each starts and ends to close. Those named in `failing` fail to
 * close.
 */
function stackOf(names: readonly string[], failing: readonly string[] = []): { stack: ResourceStack; log: string[] } {
  const stack = new ResourceStack();
  const log: string[] = [];
  for (const name of names) {
    stack.add({
      close: async () => {
        log.push(`${name} closing`);
        await Promise.resolve();
        if (failing.includes(name)) throw new Error(`${name} failed`);
        log.push(`${name} closed`);
      },
    });
  }
  return { stack, log };
}

describe('ResourceStack', () => {
  it('closes resources in reverse order, one after the other, and only once', async () => {
    const { stack, log } = stackOf(['store', 'workers', 'pages']);
    await stack.close();
    await stack.close();
    expect(log).toEqual([
      'pages closing',
      'pages closed',
      'workers closing',
      'workers closed',
      'store closing',
      'store closed',
    ]);
  });

  it('closes the other resources when one fails to close, then throws its error', async () => {
    const { stack, log } = stackOf(['store', 'workers', 'pages'], ['pages']);
    await expect(stack.close()).rejects.toThrow('pages failed');
    expect(log).toEqual(['pages closing', 'workers closing', 'workers closed', 'store closing', 'store closed']);
  });

  it('throws all errors when several resources fail to close', async () => {
    const { stack, log } = stackOf(['store', 'workers', 'pages'], ['store', 'pages']);
    const failure = await stack.close().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AggregateError);
    expect(failure).toMatchObject({ errors: [{ message: 'pages failed' }, { message: 'store failed' }] });
    expect(log).toContain('workers closed');
  });
});

describe('openAll', () => {
  it('returns what was opened and leaves it open', async () => {
    const log: string[] = [];
    const opened = await openAll(async (resources) => {
      resources.add({ close: async () => void log.push('closed') });
      return 'server';
    });
    expect([opened, log]).toEqual(['server', []]);
  });

  it('closes what was opened when a later step fails, and throws the error of that step', async () => {
    const log: string[] = [];
    const opening = openAll(async (resources) => {
      resources.add({ close: async () => void log.push('store closed') });
      throw new Error('the port is taken');
    });
    await expect(opening).rejects.toThrow('the port is taken');
    expect(log).toEqual(['store closed']);
  });

  it('reports a failure to close as a warning, and still throws why the start failed', async () => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const opening = openAll(async (resources) => {
      resources.add({ close: async () => await Promise.reject(new Error('cannot close')) });
      throw new Error('the port is taken');
    });
    await expect(opening).rejects.toThrow('the port is taken');
    expect((await warned).message).toBe('closing after a failed start: cannot close');
  });
});
