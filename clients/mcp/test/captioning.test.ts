// How long the tools wait, with a client that decides how long everything takes.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Storybar, UploadOptions, WaitOptions } from '@storybar/client';
import { Captioning } from '../src/captioning.ts';

const WAIT_SECONDS = 45;
const SUCCEEDED = { id: 'r1', status: 'succeeded', progress: 1, output: { url: 'https://files.example.com/r1' } };

interface Notification {
  readonly params: { readonly progress: number; readonly message?: string };
}

function captioningWith(client: object): Captioning {
  return new Captioning({ storybar: client as Storybar, directory: '/', waitSeconds: WAIT_SECONDS });
}

function contextWith(signal: AbortSignal, notifications: Notification[] = []): ServerContext {
  const notify = async (notification: Notification): Promise<void> => void notifications.push(notification);
  return { mcpReq: { signal, _meta: { progressToken: 1 }, notify } } as unknown as ServerContext;
}

test('the time of an upload counts, and an upload reports every few seconds that it goes on', async () => {
  mock.timers.enable({ apis: ['Date'] });
  try {
    const notifications: Notification[] = [];
    const timeouts: (number | undefined)[] = [];
    const captioning = captioningWith({
      startRender: async (_fields: object, { onUploadProgress }: UploadOptions) => {
        for (let loaded = 1; loaded <= 40; loaded += 1) {
          mock.timers.tick(1_000);
          onUploadProgress?.({ loaded, total: 40 });
        }
        return { id: 'r1' };
      },
      waitFor: async (_id: string, { timeoutMs }: WaitOptions) => {
        timeouts.push(timeoutMs);
        return { ...SUCCEEDED, output: { url: null } };
      },
    });
    await captioning.video({ url: 'https://files.example.com/a.mp4' }, contextWith(AbortSignal.any([]), notifications));
    assert.deepEqual(timeouts, [5_000]);
    assert.equal(notifications.length, 20);
    assert.deepEqual(notifications.at(-1)?.params.message, 'Sent 40 of 40 bytes.');
  } finally {
    mock.timers.reset();
  }
});

test('a render that has succeeded is kept when the assistant gives up during the download', async () => {
  const canceled: string[] = [];
  const controller = new AbortController();
  const captioning = captioningWith({
    waitFor: async () => SUCCEEDED,
    download: async () => {
      controller.abort(new Error('Enough.'));
      controller.signal.throwIfAborted();
    },
    cancelRender: async (id: string) => canceled.push(id),
  });
  await assert.rejects(captioning.finish('r1', contextWith(controller.signal)), /Enough/u);
  assert.deepEqual(canceled, []);
});
