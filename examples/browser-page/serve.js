// Serves the page. Create a key for it and allow its origin, http://127.0.0.1:3000, on the key's page of the dashboard.
//
// STORYBAR_URL=... STORYBAR_API_KEY=... node serve.js

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';

const { STORYBAR_URL: url, STORYBAR_API_KEY: key, PORT = '3000' } = process.env;
if (!url || !key) throw new Error('Set STORYBAR_URL and STORYBAR_API_KEY.');
const page = await readFile(path.join(import.meta.dirname, 'index.html'));

createServer((request, response) => {
  if (request.url === '/') response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
  else if (request.url === '/settings.json') {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ url, key }));
  } else response.writeHead(404).end();
}).listen(Number(PORT), '127.0.0.1', () => console.log(`Open http://127.0.0.1:${PORT}/`));
