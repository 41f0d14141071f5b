// A server that a developer would write in an afternoon: Node's HTTP server, busboy, and sharp's composite with a
// finished overlay. Keys, limits, queue, credits and text rendering are left out, which favors it. This is the child
// process of peer.ts.

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import sharp from 'sharp';

const [, , overlayFile] = process.argv;
if (overlayFile === undefined) throw new Error('usage: peer-process.ts <overlay.png>');
const overlay = await readFile(overlayFile);
sharp.cache(false);

const server = createServer((request, response) => {
  render(request).then(
    (png) => response.writeHead(200, { 'content-type': 'image/png', 'content-length': png.length }).end(png),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});

async function render(request: IncomingMessage): Promise<Buffer> {
  const asset = await new Promise<Buffer>((resolve, reject) => {
    const form = new Busboy({ headers: request.headers as BusboyHeaders });
    form.on('file', (_name, stream) => {
      buffer(stream).then(resolve, reject);
    });
    form.on('error', reject);
    request.pipe(form);
  });
  return await sharp(asset)
    .autoOrient()
    .composite([{ input: overlay }])
    .png()
    .toBuffer();
}

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
