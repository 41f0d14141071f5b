import { describe, expect, it } from 'vitest';
import { parseTicket } from './wire.ts';

const TICKET = {
  apiServer: 'http://api-server:8081',
  session: '136baddd-222c-4011-a6ac-7c6054962783',
  generation: 1,
  token: '1000.signature',
  expires: 5,
  protocol: 7,
  version: '0.2.0',
};
const parse = (value: unknown) => parseTicket(new TextEncoder().encode(JSON.stringify(value)));

describe('a ticket', () => {
  it.each([TICKET.apiServer, 'https://10.0.0.1:8081', 'http://[::1]:8081', 'http://my_host:1'])(
    'a ticket with the address %s is read as it was written',
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
  ])('a ticket with an invalid field is ignored: %j', (value) => {
    expect(parse(value)).toBeUndefined();
  });

  it("a ticket that isn't JSON is ignored", () => {
    expect(parseTicket(new Uint8Array([0xff, 0x00]))).toBeUndefined();
  });
});
