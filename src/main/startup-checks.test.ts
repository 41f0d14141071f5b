import { describe, expect, it } from 'vitest';
import { readSettings } from '../service/config/settings.ts';
import { publicSignUpAdvice } from './startup-checks.ts';

describe('publicSignUpAdvice', () => {
  it.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])(
    'has nothing to say about the loopback address %s',
    (HOST) => {
      expect(publicSignUpAdvice(readSettings({ HOST }))).toBeUndefined();
    },
  );

  it.each(['0.0.0.0', '::', '192.0.2.1', 'captions.example.com'])('says what to set for the address %s', (HOST) => {
    expect(publicSignUpAdvice(readSettings({ HOST }))?.join('; ')).toMatch(/SIGN_UP=closed.*SMTP_URL.*PUBLIC_URL/u);
  });

  it('has nothing to say when sign-up is closed', () => {
    expect(publicSignUpAdvice(readSettings({ HOST: '0.0.0.0', STORYBAR_SIGN_UP: 'closed' }))).toBeUndefined();
  });

  it('names only what is missing', () => {
    const settings = readSettings({
      HOST: '0.0.0.0',
      STORYBAR_PUBLIC_URL: 'https://captions.example.com',
      STORYBAR_SMTP_URL: 'smtps://mail.example.com',
    });
    expect(publicSignUpAdvice(settings)).toEqual(['STORYBAR_SIGN_UP=closed to require an invitation']);
  });
});
