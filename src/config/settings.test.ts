import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSettings, readSettings, SettingsError } from './settings.ts';

describe('settings', () => {
  it('have defaults that need no configuration', () => {
    expect(readSettings({})).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      dataDirectory: path.resolve('data'),
      logLevel: 'info',
    });
  });

  it('come from the environment', () => {
    expect(readSettings({ PORT: '0', HOST: '::', STORYBAR_DATA_DIR: '/srv/sb', STORYBAR_WORKERS: '3' })).toMatchObject({
      port: 0,
      host: '::',
      dataDirectory: '/srv/sb',
      workers: 3,
    });
  });

  it.each(['', '80.5', '-1', '65536', 'http', ' 80', '0x50'])('refuse PORT=%j', (PORT) => {
    expect(() => readSettings({ PORT })).toThrow(SettingsError);
  });

  it('name every fault at once', () => {
    expect(() => readSettings({ PORT: 'a', HOST: ' ', STORYBAR_QUEUE: '-2' })).toThrow(
      expect.objectContaining({
        name: 'SettingsError',
        faults: [
          'PORT must be a whole number from 0 to 65535, not "a"',
          'HOST must not be empty, not " "',
          'STORYBAR_QUEUE must be a whole number from 0 to 100000, not "-2"',
        ],
      }),
    );
  });

  it('read the secrets of payments, and never repeat them', () => {
    expect(
      readSettings({
        STORYBAR_BILLING: 'stripe',
        STORYBAR_STRIPE_SECRET_KEY: 'rk_live_1',
        STORYBAR_STRIPE_WEBHOOK_SECRETS: ' whsec_a ,whsec_b,',
        STORYBAR_STRIPE_API_URL: 'http://127.0.0.1:4000',
      }),
    ).toMatchObject({
      billing: 'stripe',
      stripeSecretKey: 'rk_live_1',
      stripeWebhookSecrets: ['whsec_a', 'whsec_b'],
      stripeApiUrl: 'http://127.0.0.1:4000',
    });
    const bad = {
      STORYBAR_BILLING: 'cash',
      STORYBAR_STRIPE_SECRET_KEY: 'pk_live_hidden',
      STORYBAR_STRIPE_WEBHOOK_SECRETS: 'whsec_hidden, hidden',
      STORYBAR_STRIPE_API_URL: 'http://stripe.hidden.test',
    };
    expect(() => readSettings(bad)).toThrow(
      expect.objectContaining({
        faults: [
          'STORYBAR_BILLING must be one of manual, stripe, not "cash"',
          'STORYBAR_STRIPE_SECRET_KEY must begin with sk_ or rk_',
          'STORYBAR_STRIPE_WEBHOOK_SECRETS must be secrets that begin with whsec_, separated by commas',
          'STORYBAR_STRIPE_API_URL must be https://host or https://host:port without a path (http:// for this machine only)',
        ],
      }),
    );
  });

  it.each(['nats://a:4222', 'tls://user:secret@b', 'nats://a,nats://b:4223'])('take STORYBAR_NATS_URL=%s', (url) => {
    expect(readSettings({ STORYBAR_NATS_URL: url }).natsUrl).toBe(url);
  });

  it.each(['http://a', 'a:4222', 'nats://', 'nats://user:secret@a,b', 'nats://user:100%@a'])(
    'refuse STORYBAR_NATS_URL=%s without repeating what may be a password',
    (url) => {
      expect(() => readSettings({ STORYBAR_NATS_URL: url })).toThrow(
        expect.objectContaining({
          faults: ['STORYBAR_NATS_URL must be nats:// or tls:// URLs separated by commas'],
        }),
      );
    },
  );

  it('are frozen and all described', () => {
    expect(Object.isFrozen(readSettings({}))).toBe(true);
    expect(describeSettings()).toHaveLength(Object.keys(readSettings({})).length);
  });
});
