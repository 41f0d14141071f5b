// A website that captions photos. Visitors never see the API key, because this server sends the requests.
//
// STORYBAR_URL=... STORYBAR_API_KEY=... node server.js

import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';

const { STORYBAR_URL, STORYBAR_API_KEY, PORT = '3000' } = process.env;
if (!STORYBAR_URL || !STORYBAR_API_KEY) throw new Error('Set STORYBAR_URL and STORYBAR_API_KEY.');

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Caption a photo</title>
<style>body { max-width: 30rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui } label { display: block; margin: 1rem 0 }</style>
<h1>Caption a photo</h1>
<form method="post" action="/caption" enctype="multipart/form-data">
  <label>Photo or video <input type="file" name="asset" required></label>
  <label>Caption <input name="text" maxlength="180" required></label>
  <button>Caption it</button>
</form>
</html>`;

createServer((request, response) => {
  respond(request, response).catch((error) => {
    console.error(error);
    // The connection ends early if the response has already begun.
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { 'content-type': 'text/plain' }).end('The caption service cannot be reached.');
  });
}).listen(Number(PORT), () => console.log(`Open http://127.0.0.1:${PORT}/`));

async function respond(request, response) {
  if (request.method === 'GET' && request.url === '/') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
  } else if (request.method === 'POST' && request.url === '/caption') await caption(request, response);
  else response.writeHead(404).end();
}

/** Passes the form on as it arrives, and the result back, so that no file is ever completely in memory. */
async function caption(request, response) {
  const { 'content-type': type = '', 'content-length': length } = request.headers;
  const rendered = await fetch(`${STORYBAR_URL}/v1/overlay`, {
    method: 'POST',
    headers: { 'x-api-key': STORYBAR_API_KEY, 'content-type': type, ...(length && { 'content-length': length }) },
    body: request,
    duplex: 'half',
  });
  if (!rendered.ok) {
    const { detail, errors = [{ detail }] } = await rendered.json();
    const text = errors.map((fault) => fault.detail).join('\n');
    response.writeHead(rendered.status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
    return;
  }
  response.writeHead(200, { 'content-type': rendered.headers.get('content-type') });
  await pipeline(rendered.body, response);
}
