// The webhook for events from the payment provider. The signature covers the exact bytes of the body, so it isn't parsed here.

import type { IncomingMessage } from 'node:http';
import type { Billing } from '../billing/billing.ts';
import { AppError } from '../../shared/errors.ts';
import type { RouteGroup } from './route-group.ts';

const MAX_BYTES = 1_000_000;

export function paymentWebhookRoutes(billing: Pick<Billing, 'receive'>): RouteGroup {
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

/** When the body is too large, the rest stays unread. The connection drains it after the response. */
async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  return await new Promise<Buffer>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= MAX_BYTES) {
        chunks.push(chunk);
        return;
      }
      request.off('data', onData);
      reject(new AppError('malformed_body', `The body is larger than ${MAX_BYTES} bytes.`));
    };
    request.on('data', onData);
    request.once('end', () => resolve(Buffer.concat(chunks)));
    const onClosed = (): void => reject(new AppError('client_closed', 'The client closed the connection.'));
    request.once('error', onClosed);
    request.once('close', onClosed);
  });
}
