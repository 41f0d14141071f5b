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

  it('are frozen and all described', () => {
    expect(Object.isFrozen(readSettings({}))).toBe(true);
    expect(describeSettings()).toHaveLength(Object.keys(readSettings({})).length);
  });
});
