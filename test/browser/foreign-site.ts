// Another site, on loopback like everything in tests, but with another origin.

import { createServer } from 'node:http';

export interface ForeignSite {
  readonly origin: string;
  /** Sets the content of its only page. */
  show(html: string): void;
  stop(): Promise<void>;
}

export async function startForeignSite(): Promise<ForeignSite> {
  let body = '';
  const server = createServer((_request, response) => {
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end(`<!doctype html><title>elsewhere</title>${body}`);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the other site does not listen');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    show: (html) => {
      body = html;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
