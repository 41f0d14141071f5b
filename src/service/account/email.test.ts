import { describe, expect, it } from 'vitest';
import { mailboxOf, parseEmail } from './email.ts';

describe('parseEmail', () => {
  it.each([
    [' Ann@Example.COM ', 'ann@example.com'],
    ["o'brien+captions@mail.example.co.uk", "o'brien+captions@mail.example.co.uk"],
    ['a@xn--bcher-kva.example', 'a@xn--bcher-kva.example'],
  ])('reads %j as %s', (text, address) => {
    expect(parseEmail(text)).toBe(address);
  });

  it.each([
    '',
    'ann',
    'ann@',
    '@example.com',
    'ann@localhost',
    'ann@example..com',
    'ann@-example.com',
    'ann b@example.com',
    'ann@example.com, eve@example.com',
    'ann@example.com\r\nBcc: eve@example.com',
    '<ann@example.com>',
    '"ann"@example.com',
    'mi\u212ae@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(63)}.com`,
  ])('rejects %j', (text) => {
    expect(parseEmail(text)).toBeUndefined();
  });
});

describe('mailboxOf', () => {
  it.each([
    ['ann@example.com', 'ann@example.com'],
    ['ann+1@example.com', 'ann@example.com'],
    ['ann+shop+2@example.com', 'ann@example.com'],
    ['a.nn@example.com', 'a.nn@example.com'],
    ['a.n.n+1@gmail.com', 'ann@gmail.com'],
    ['Ann@GoogleMail.com'.toLowerCase(), 'ann@gmail.com'],
    // Without a name, the plus sign isn't a tag.
    ['+1@example.com', '+1@example.com'],
  ])('the mailbox of %s is %s', (address, mailbox) => {
    expect(mailboxOf(address)).toBe(mailbox);
  });
});
