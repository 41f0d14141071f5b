// Tokens for the internal listener. A ticket contains one to open a control stream, and every step in that stream contains
// one for its own requests. The secret lives in the memory of the API server, like the sessions it protects.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface TokenSubject {
  readonly purpose: 'ticket' | 'attempt';
  readonly session: string;
  /** The generation of the ticket, or the number of the attempt. */
  readonly number: number;
}

export class Tokens {
  readonly #secret = randomBytes(32);

  issue(subject: TokenSubject, expires: number): string {
    const until = Math.ceil(expires);
    return `${until}.${this.#sign(subject, until).toString('base64url')}`;
  }

  isValid(token: string, subject: TokenSubject, now = Date.now()): boolean {
    const [until = '', signature = ''] = token.split('.');
    if (!/^\d{1,15}$/u.test(until)) return false;
    const expected = this.#sign(subject, Number(until));
    const given = Buffer.from(signature, 'base64url');
    return given.length === expected.length && timingSafeEqual(given, expected) && now <= Number(until);
  }

  #sign({ purpose, session, number }: TokenSubject, until: number): Buffer {
    return createHmac('sha256', this.#secret).update(`${purpose}\n${session}\n${number}\n${until}`).digest();
  }
}
