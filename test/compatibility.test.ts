// What this version is compatible with: what was released, and nothing else. Version 0.2.0 is the only release before it. The
// upgrade of its databases is tested in `store/upgrade.test.ts`.

import { describe, expect, it } from 'vitest';
import { describeSettings, removedSettings } from '../src/service/config/settings.ts';
import { PROTOCOL, speaksOurProtocol } from '../src/service/dispatch/remote/shared/protocol.ts';
import { readRequest } from '../src/service/renders/stored-request.ts';
import { pendingMigrations, SCHEMA } from '../src/service/store/migrations.ts';

/** The settings of version 0.2.0, without their prefix. */
const SETTINGS = `
  API_KEY ASYNC BILLING DATABASE_CA DATABASE_POOL DATABASE_TLS DATABASE_URL DATA_DIR DEADLINE_SECONDS DOWNLOAD_SECONDS
  DRAIN_SECONDS FETCH FETCH_ALLOW GITHUB_CLIENT_ID GITHUB_CLIENT_SECRET GITHUB_URL GOOGLE_CLIENT_ID GOOGLE_CLIENT_SECRET
  GOOGLE_ISSUER INTERNAL_HOST INTERNAL_PORT INTERNAL_URL KEEP_RENDERS_DAYS LOG_LEVEL MAIL_FROM MARKETPLACE_NAME
  MARKETPLACE_SECRETS METRICS_TOKEN NATS_CA NATS_CREDS NATS_REPLICAS NATS_URL OPERATOR_EMAIL OUTPUT_MB PAGES_DIR PLANS
  PLAYGROUND_CLIPS_PER_DAY PLAYGROUND_RENDERS_PER_DAY PUBLIC_URL QUEUE REPLAY_MB RESULT_HOURS SANDBOX SECURITY_CONTACT
  SEGMENT_SECONDS SHUTDOWN_SECONDS SIGN_UP SMTP_URL STORAGE STRIPE_API_URL STRIPE_SECRET_KEY STRIPE_WEBHOOK_SECRETS
  TRUST_PROXY UPLOAD_MB UPLOAD_SECONDS URL VIDEO_DEADLINE_SECONDS VIDEO_WORKERS VIDEO_WORKER_MEMORY_MB WORKERS
  WORKER_MEMORY_MB WORKER_TASKS
`;

describe('databases', () => {
  const { version: own } = SCHEMA;
  const steps = (version: number, compatibleFrom = version): number =>
    pendingMigrations({ version, compatibleFrom }).length;

  it.each([
    ['an empty database', 0, undefined],
    ['a database of version 0.2.0', 15, 6],
  ])('%s gets the current tables', (_name, version, compatibleFrom) => {
    expect(steps(version, compatibleFrom)).toBeGreaterThan(0);
  });

  it.each([
    ['a database of this version', own, undefined],
    ['a newer database that is compatible with this version', own + 2, own],
  ])('%s is used as it is', (_name, version, compatibleFrom) => {
    expect(steps(version, compatibleFrom)).toBe(0);
  });

  it.each([
    ['a database of a version before 0.2.0', 14, undefined, 'never released'],
    ['a database of an unreleased version', 33, 25, 'never released'],
    ['a newer database that is not compatible', own + 2, own + 1, `needs a program with schema ${own + 1}`],
  ])('%s is refused', (_name, version, compatibleFrom, reason) => {
    expect(() => steps(version, compatibleFrom)).toThrow(reason);
  });
});

describe('workers', () => {
  it.each([
    ['the same protocol', PROTOCOL, true],
    ['the protocol before', PROTOCOL - 1, false],
    ['the next protocol', PROTOCOL + 1, false],
    ['the protocol of version 0.2.0', 3, false],
  ])('a worker with %s is used only if it is ours', (_name, protocol, isUsed) => {
    expect(speaksOurProtocol({ protocol })).toBe(isUsed);
  });
});

describe('stored requests', () => {
  const fields = { text: 'Golden hour', width: 300, height: 200 };

  it('a request that version 0.2.0 stored is read', () => {
    const sent = Object.entries(fields).map(([name, value]) => ({ name, value }));
    const { request } = readRequest(JSON.stringify({ isJson: true, fields: sent }), false);
    expect(request).toMatchObject({ captions: [{ text: 'Golden hour' }] });
  });

  it('a request of an unknown version is refused', () => {
    expect(() => readRequest(JSON.stringify({ version: 2, request: {} }), false)).toThrow('invalid');
  });
});

describe('settings', () => {
  it('every setting of version 0.2.0 is one, or was removed with advice', () => {
    const names = SETTINGS.split(/\s+/u).filter((name) => name !== '');
    const known = new Set(describeSettings().map(({ variable }) => variable));
    const gone = names.map((name) => `STORYBAR_${name}`).filter((name) => !known.has(name));
    const removed = removedSettings(Object.fromEntries(gone.map((name) => [name, '1'])));
    expect(gone).toEqual(['STORYBAR_SEGMENT_SECONDS']);
    expect(removed).toEqual([{ variable: 'STORYBAR_SEGMENT_SECONDS', advice: expect.stringContaining('remove it') }]);
  });
});
