import { describe, expect, it } from 'vitest';
import { parseTicket } from './wire.ts';

const TICKET = {
  apiServer: 'http://api-server:8081',
  session: '136baddd-222c-4011-a6ac-7c6054962783',
  generation: 1,
  token: '1000.signature',
  expires: 5,
};
const parse = (value: unknown) => parseTicket(new TextEncoder().encode(JSON.stringify(value)));

describe('a ticket', () => {
  it.each([TICKET.apiServer, 'https://10.0.0.1:8081', 'http://[::1]:8081', 'http://my_host:1'])(
    'is read as it was written, with the address %s',
    (apiServer) => {
      expect(parse({ ...TICKET, apiServer, extra: 1 })).toEqual({ ...TICKET, apiServer });
    },
  );

  it.each([
    null,
    [],
    { ...TICKET, apiServer: 'file:///etc/passwd' },
    { ...TICKET, apiServer: 'http://' },
    { ...TICKET, session: '../../x' },
    { ...TICKET, generation: '1' },
    { ...TICKET, generation: 1e9 },
    { ...TICKET, token: 1 },
    { ...TICKET, token: 'two words' },
    { ...TICKET, expires: undefined },
  ])('is ignored when a field is invalid: %j', (value) => {
    expect(parse(value)).toBeUndefined();
  });

  it("is ignored when it isn't JSON", () => {
    expect(parseTicket(new Uint8Array([0xff, 0x00]))).toBeUndefined();
  });
});
