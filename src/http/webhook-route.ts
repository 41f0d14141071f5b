// Where a payment provider sends its events. The body is signed byte for byte, so it is read as bytes.

import type { IncomingMessage } from 'node:http';
import type { Billing } from '../billing/billing.ts';
import { AppError } from '../errors.ts';
import type { RouteGroup } from './route-group.ts';

const MAX_BYTES = 1_000_000;

export function webhookRoutes(billing: Pick<Billing, 'receive'>): RouteGroup {
  return {
    register: (app) => {
      app.post('/webhooks/stripe', async (request, reply) => {
        if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
        const signature = request.headers['stripe-signature'];
        const body = await readBytes(request.raw);
        const receipt = await billing.receive(body, typeof signature === 'string' ? signature : undefined);
        return await reply.header('cache-control', 'no-store').send({ receipt });
      });
    },
  };
}

/** On refusal the rest is left in the connection, for whoever drains it after the answer. */
async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  return await new Promise<Buffer>((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= MAX_BYTES) {
        chunks.push(chunk);
        return;
      }
      request.off('data', take);
      reject(new AppError('malformed_body', `The body has more than ${MAX_BYTES} bytes.`));
    };
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(chunks)));
    const gone = (): void => reject(new AppError('client_closed', 'The client closed the connection.'));
    request.once('error', gone);
    request.once('close', gone);
  });
}
