import { describe, expect, it } from 'vitest';
import { readSettings } from '../service/config/settings.ts';
import { assertSignInSettings, signInClients } from './sign-in-clients.ts';

const PUBLIC = { STORYBAR_PUBLIC_URL: 'https://captions.example.com' };
const GOOGLE = { STORYBAR_GOOGLE_CLIENT_ID: 'id', STORYBAR_GOOGLE_CLIENT_SECRET: 'very-secret' };
const GITHUB = { STORYBAR_GITHUB_CLIENT_ID: 'id', STORYBAR_GITHUB_CLIENT_SECRET: 'very-secret' };

const providersOf = (environment: Record<string, string>): string[] =>
  signInClients(readSettings(environment)).map(({ provider }) => provider);
const check = (environment: Record<string, string>): void => assertSignInSettings(readSettings(environment));

describe('sign-in providers', () => {
  it('exist only when they are configured', () => {
    expect(providersOf({})).toEqual([]);
    expect(providersOf({ ...PUBLIC, ...GITHUB })).toEqual(['github']);
    expect(providersOf({ ...PUBLIC, ...GOOGLE, ...GITHUB })).toEqual(['google', 'github']);
    for (const environment of [{}, { ...PUBLIC, ...GOOGLE }, { ...PUBLIC, ...GOOGLE, ...GITHUB }]) check(environment);
  });

  it('sign-in providers need both the client ID and the client secret', () => {
    const { STORYBAR_GOOGLE_CLIENT_ID, STORYBAR_GOOGLE_CLIENT_SECRET } = GOOGLE;
    const onlyId = { ...PUBLIC, STORYBAR_GOOGLE_CLIENT_ID };
    expect(() => check(onlyId)).toThrow(
      'STORYBAR_GOOGLE_CLIENT_SECRET is required when STORYBAR_GOOGLE_CLIENT_ID is set',
    );
    const onlySecret = { ...PUBLIC, STORYBAR_GOOGLE_CLIENT_SECRET };
    expect(() => check(onlySecret)).toThrow(
      'STORYBAR_GOOGLE_CLIENT_ID is required when STORYBAR_GOOGLE_CLIENT_SECRET is set',
    );
  });

  it('sign-in providers need a public address, and an error about that does not repeat the secret', () => {
    const error = (() => {
      try {
        check({ ...GOOGLE, STORYBAR_GITHUB_CLIENT_SECRET: 'very-secret' });
      } catch (thrown) {
        return String(thrown);
      }
      return '';
    })();
    expect(error).toContain('STORYBAR_PUBLIC_URL is required when STORYBAR_GOOGLE_CLIENT_ID is set');
    expect(error).toContain('STORYBAR_GITHUB_CLIENT_ID is required');
    expect(error).not.toContain('very-secret');
  });

  it.each([
    'http://github.example.com',
    'ftp://github.com',
    'nonsense',
    'https://user@github.com',
    'https://a.example/?x',
  ])('sign-in providers refuse the address %j', (url) => {
    expect(() => readSettings({ STORYBAR_GITHUB_URL: url })).toThrow('STORYBAR_GITHUB_URL must be https://host');
    expect(() => readSettings({ STORYBAR_GOOGLE_ISSUER: url })).toThrow('STORYBAR_GOOGLE_ISSUER must be https://host');
  });

  it('sign-in providers accept plain HTTP on this machine only', () => {
    expect(readSettings({ STORYBAR_GITHUB_URL: 'http://127.0.0.1:9000/' }).githubUrl).toBe('http://127.0.0.1:9000');
  });
});
