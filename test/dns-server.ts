// A DNS server on loopback with the responses that a test needs.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface DnsServer {
  /** `127.0.0.1:<port>`. */
  readonly address: string;
  /** The queried names, one entry per query for IPv4 addresses. */
  readonly queries: string[];
  stop(): void;
}

const A = 1;
const AAAA = 28;

/** `answer` returns the IPv4 and IPv6 addresses of a name, the latter as 32 hexadecimal digits. `undefined` sends nothing. */
export async function startDnsServer(answer: (name: string) => readonly string[] | undefined): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const queries: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    if (type === A) queries.push(name);
    const records = answer(name)?.map(recordOf);
    if (records === undefined) return;
    const matching = records.filter((record) => record.type === type);
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(records.length > 0 ? 0x81_80 : 0x81_83, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(matching.length, 6);
    header.writeUInt32BE(0, 8);
    const answers = matching.map(({ data }) => {
      const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
      return Buffer.concat([record, data]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  return { address: `127.0.0.1:${port}`, queries, stop: () => socket.close() };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query.readUInt8(offset); length > 0; length = query.readUInt8(offset)) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(offset + 1), end: offset + 5 };
}

function recordOf(address: string): { type: number; data: Buffer } {
  if (address.includes('.')) return { type: A, data: Buffer.from(address.split('.').map(Number)) };
  return { type: AAAA, data: Buffer.from(address, 'hex') };
}
