import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { retryDelayMs } from './webhook-schedule.ts';
import { createWebhookSecret, signWebhook } from './webhook-secret.ts';

it('a webhook is signed as the official package does it', () => {
  const secret = createWebhookSecret();
  const now = new Date();
  const body = '{"text":"é🎬"}';
  const timestamp = Math.floor(now.getTime() / 1_000);
  expect(signWebhook({ id: 'msg_1', timestamp, body }, [secret])).toBe(new Webhook(secret).sign('msg_1', now, body));
  expect(createWebhookSecret()).not.toBe(secret);
});

it('a webhook without a signature is not sent', () => {
  expect(() => signWebhook({ id: 'msg_1', timestamp: 1, body: '{}' }, [])).toThrow('a secret to sign the webhook');
});

it('the schedule has six retries, after 5 seconds, 5 and 30 minutes, 2, 5 and 10 hours', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7].map((failed) => retryDelayMs(failed));
  expect(delays).toEqual([5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, undefined]);
});
