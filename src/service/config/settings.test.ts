import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSettings, readClientSettings, readSettings, removedSettings, SettingsError } from './settings.ts';

describe('readSettings', () => {
  it('works without any configuration', () => {
    expect(readSettings({})).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      dataDirectory: path.resolve('data'),
      logLevel: 'info',
    });
  });

  it('reads values from the environment', () => {
    expect(readSettings({ PORT: '0', HOST: '::', STORYBAR_DATA_DIR: '/srv/sb', STORYBAR_WORKERS: '3' })).toMatchObject({
      port: 0,
      host: '::',
      dataDirectory: '/srv/sb',
      workers: 3,
    });
  });

  it.each(['', '80.5', '-1', '65536', 'http', ' 80', '0x50'])('refuses PORT=%j', (PORT) => {
    expect(() => readSettings({ PORT })).toThrow(SettingsError);
  });

  it('reports every invalid setting in one error', () => {
    expect(() => readSettings({ PORT: 'a', HOST: ' ', STORYBAR_QUEUE: '-2' })).toThrow(
      expect.objectContaining({
        name: 'SettingsError',
        faults: [
          'PORT must be a whole number from 0 to 65535; got "a"',
          'HOST must not be empty; got " "',
          'STORYBAR_QUEUE must be a whole number from 0 to 100000; got "-2"',
        ],
      }),
    );
  });

  it.each([
    ['STORYBAR_SIGNUP', 'did you mean STORYBAR_SIGN_UP?'],
    ['STORYBAR_DATABSE_URL', 'did you mean STORYBAR_DATABASE_URL?'],
    ['STORYBAR_METRIC_TOKEN_FILE', 'did you mean STORYBAR_METRICS_TOKEN_FILE?'],
    ['STORYBAR_PORT', 'did you mean PORT?'],
    ['STORYBAR_ENTIRELY_DIFFERENT', 'see docs/configuration.md'],
  ])('refuses the unknown variable %s', (name, advice) => {
    expect(() => readSettings({ [name]: 'closed' })).toThrow(
      expect.objectContaining({ faults: [`${name} isn't a setting; ${advice}`] }),
    );
  });

  it('accepts a setting of an earlier version, and says what to do about it', () => {
    const environment = { STORYBAR_SEGMENT_SECONDS: '10', PORT: '0' };
    expect(readSettings(environment)).toMatchObject({ port: 0 });
    expect(removedSettings(environment)).toEqual([
      { variable: 'STORYBAR_SEGMENT_SECONDS', advice: 'remove it; one worker renders each video' },
    ]);
    expect(removedSettings({ PORT: '0' })).toEqual([]);
  });

  it('accepts variables that Kubernetes adds for a service, and those of other programs', () => {
    const ofService = {
      STORYBAR_SERVICE_HOST: '10.0.0.7',
      STORYBAR_SERVICE_PORT: '80',
      STORYBAR_SERVICE_PORT_HTTP: '80',
      STORYBAR_PORT: 'tcp://10.0.0.7:80',
      STORYBAR_PORT_80_TCP: 'tcp://10.0.0.7:80',
      STORYBAR_PORT_80_TCP_PROTO: 'tcp',
      STORYBAR_PORT_80_TCP_PORT: '80',
      STORYBAR_PORT_80_TCP_ADDR: '10.0.0.7',
    };
    const ofOthers = { STORYBAR_URL: 'http://127.0.0.1', STORYBAR_MCP_DIRECTORY: '/srv', OTHER: '1' };
    expect(readSettings({ ...ofService, ...ofOthers })).toMatchObject({ port: 8080 });
    expect(() => readSettings({ ...ofService, STORYBAR_SIGNUP: 'closed' })).toThrow('STORYBAR_SIGNUP');
  });

  it('reads encryption keys from a file, in Base64 or hexadecimal, and refuses other lengths', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-keys-'));
    const file = path.join(folder, 'keys');
    const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    try {
      writeFileSync(file, `# current\n${first.toString('base64')}\n\n${second.toString('hex')}\n`);
      expect(readSettings({ STORYBAR_ENCRYPTION_KEYS: file }).encryptionKeys).toEqual([first, second]);
      writeFileSync(file, Buffer.alloc(16).toString('hex'));
      expect(() => readSettings({ STORYBAR_ENCRYPTION_KEYS: file })).toThrow('keys of 32 bytes');
      expect(() => readSettings({ STORYBAR_ENCRYPTION_KEYS: path.join(folder, 'none') })).toThrow('ENOENT');
      expect(readSettings({}).encryptionKeys).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('reads payment secrets and never repeats them in errors', () => {
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
          'STORYBAR_BILLING must be one of manual, stripe; got "cash"',
          'STORYBAR_STRIPE_SECRET_KEY must begin with sk_ or rk_',
          'STORYBAR_STRIPE_WEBHOOK_SECRETS must be comma-separated secrets that begin with whsec_',
          'STORYBAR_STRIPE_API_URL must be https://host or https://host:port without a path (http:// is allowed for localhost only)',
        ],
      }),
    );
  });

  it.each(['nats://a:4222', 'tls://user:secret@b', 'nats://a,nats://b:4223'])('accepts STORYBAR_NATS_URL=%s', (url) => {
    expect(readSettings({ STORYBAR_NATS_URL: url }).natsUrl).toBe(url);
  });

  it.each(['http://a', 'a:4222', 'nats://', 'nats://user:secret@a,b', 'nats://user:100%@a'])(
    'refuses STORYBAR_NATS_URL=%s without repeating a possible password',
    (url) => {
      expect(() => readSettings({ STORYBAR_NATS_URL: url })).toThrow(
        expect.objectContaining({
          faults: ['STORYBAR_NATS_URL must be comma-separated nats:// or tls:// URLs'],
        }),
      );
    },
  );

  it.each(['0', '86401', '', '1.5', 'long'])('refuses STORYBAR_UPLOAD_SECONDS=%j', (text) => {
    const fault = `STORYBAR_UPLOAD_SECONDS must be a whole number from 1 to 86400; got ${JSON.stringify(text)}`;
    expect(() => readSettings({ STORYBAR_UPLOAD_SECONDS: text })).toThrow(expect.objectContaining({ faults: [fault] }));
  });

  it('limits an upload to 300 seconds by default', () => {
    expect(readSettings({}).uploadSeconds).toBe(300);
    expect(readSettings({ STORYBAR_UPLOAD_SECONDS: '7' }).uploadSeconds).toBe(7);
  });

  it('reads a secret from the file that the same variable with the suffix _FILE names', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-settings-'));
    const file = path.join(folder, 'secret');
    writeFileSync(file, 'postgres://user:from-file@host/name\n');
    expect(readSettings({ STORYBAR_DATABASE_URL_FILE: file }).databaseUrl).toBe('postgres://user:from-file@host/name');
    rmSync(folder, { recursive: true });
  });

  it.each(describeSettings().filter(({ isSecret }) => isSecret))('reads $variable from a file', ({ variable }) => {
    const environment = { [`${variable}_FILE`]: '/nowhere/secret' };
    expect(() => ({ ...readSettings(environment), ...readClientSettings(environment) })).toThrow(
      expect.objectContaining({
        faults: [`${variable}_FILE must name a readable file; got "/nowhere/secret" (ENOENT)`],
      }),
    );
  });

  it('can read every password, token and secret from a file, and nothing else', () => {
    const secrets = describeSettings().filter(({ isSecret }) => isSecret);
    expect(secrets.map(({ variable }) => variable)).toEqual(
      expect.arrayContaining([
        'STORYBAR_DATABASE_URL',
        'STORYBAR_NATS_URL',
        'STORYBAR_SMTP_URL',
        'STORYBAR_STRIPE_SECRET_KEY',
        'STORYBAR_STRIPE_WEBHOOK_SECRETS',
        'STORYBAR_MARKETPLACE_SECRETS',
        'STORYBAR_METRICS_TOKEN',
      ]),
    );
    expect(readSettings({ PORT_FILE: '/nowhere' }).port).toBe(8080);
  });

  it('refuses a secret that is set both directly and as a file', () => {
    const both = { STORYBAR_METRICS_TOKEN: 'a', STORYBAR_METRICS_TOKEN_FILE: '/run/secrets/token' };
    expect(() => readSettings(both)).toThrow(
      expect.objectContaining({
        faults: ['STORYBAR_METRICS_TOKEN and STORYBAR_METRICS_TOKEN_FILE are both set; set only one'],
      }),
    );
  });

  it('returns a frozen object', () => {
    expect(Object.isFrozen(readSettings({}))).toBe(true);
  });
});

describe('describeSettings', () => {
  it('describes every setting', () => {
    const settings = { ...readSettings({}), ...readClientSettings({}) };
    expect(describeSettings()).toHaveLength(Object.keys(settings).length);
  });
});

describe('readClientSettings', () => {
  it('reads the server and the key, whatever the settings of a server on the same machine are', () => {
    const environment = { STORYBAR_URL: 'https://captions.example/', STORYBAR_API_KEY: 'sb_live_x', PORT: 'broken' };
    expect(readClientSettings(environment)).toEqual({ serverUrl: 'https://captions.example', apiKey: 'sb_live_x' });
    expect(readClientSettings({})).toEqual({ serverUrl: '', apiKey: '' });
  });

  it('refuses a server that is not a URL', () => {
    expect(() => readClientSettings({ STORYBAR_URL: 'captions' })).toThrow('STORYBAR_URL must be a URL');
  });
});

describe('STORYBAR_STORAGE', () => {
  it.each([
    ['', { kind: 'default' }],
    ['file:/srv/objects', { kind: 'file', directory: '/srv/objects' }],
    ['file:///srv/objects', { kind: 'file', directory: '/srv/objects' }],
    ['s3://bucket', { kind: 's3', bucket: 'bucket', prefix: '' }],
    ['s3://my.bucket-1/', { kind: 's3', bucket: 'my.bucket-1', prefix: '' }],
    ['s3://bucket/some/folder/', { kind: 's3', bucket: 'bucket', prefix: 'some/folder/' }],
  ])('STORYBAR_STORAGE can be %j', (STORYBAR_STORAGE, storage) => {
    expect(readSettings({ STORYBAR_STORAGE }).storage).toEqual(storage);
  });

  it.each(['/srv', 's3:bucket', 's3://', 's3://B', 's3://b', 's3://bucket//a', 's3://bucket/../a', 's3://bucket/a b'])(
    'STORYBAR_STORAGE cannot be %j',
    (STORYBAR_STORAGE) => {
      expect(() => readSettings({ STORYBAR_STORAGE })).toThrow('STORYBAR_STORAGE must be file: and a directory, or');
    },
  );

  it('takes the region and the credentials of a bucket from the usual variables', () => {
    const given = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    expect(readSettings(given)).toMatchObject({
      s3Region: 'eu-west-1',
      s3AccessKeyId: 'id',
      s3SecretAccessKey: 'secret',
    });
    expect(readSettings({ AWS_REGION: '' }).s3Region).toBe('us-east-1');
  });

  it.each(['ftp://host', 'host', 'https://user:secret@host', 'https://host?x=1'])('refuses %j as endpoint', (url) => {
    expect(() => readSettings({ STORYBAR_S3_ENDPOINT: url })).toThrow('STORYBAR_S3_ENDPOINT must be http(s)://host');
  });
});
