// Settings of listening, request limits, shutdown and logs.

import { anyText, contact, hostsOrNetworks, nonEmpty, oneOf, proxies, urlOrEmpty, wholeNumber } from './parse.ts';
import { setting } from './setting.ts';

const FETCH_MODES = ['off', 'public', 'any'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;

export const SERVER_SETTINGS = {
  port: setting('PORT', '8080', 'TCP port of the HTTP server. 0 chooses a free port.', wholeNumber(0, 65_535)),
  host: setting(
    'HOST',
    '127.0.0.1',
    'Address to listen on. `0.0.0.0` makes the service reachable from the network.',
    nonEmpty,
  ),
  publicUrl: setting(
    'STORYBAR_PUBLIC_URL',
    '',
    'Public address of the service, such as `https://captions.example.com`, for links to results and in errors and emails. Required for asynchronous renders unless HOST is a loopback address. Default: the host of the request.',
    urlOrEmpty,
  ),
  contact: setting(
    'STORYBAR_CONTACT',
    '',
    'Email address or URL for questions of customers, shown on `/contact`. If unset, that path returns 404.',
    contact,
  ),
  securityContact: setting(
    'STORYBAR_SECURITY_CONTACT',
    '',
    'Email address or URL for vulnerability reports, published in `/.well-known/security.txt`. If unset, that path returns 404.',
    contact,
  ),
  pagesDirectory: setting(
    'STORYBAR_PAGES_DIR',
    '',
    'Folder with your own `terms.md`, `privacy.md` and `retention.md`. A file that is missing there comes from the templates in `docs/legal`.',
    anyText,
  ),
  trustProxy: setting(
    'STORYBAR_TRUST_PROXY',
    '',
    'Reverse proxies whose `x-forwarded-for` header is trusted: comma-separated addresses or networks, or the number of proxies in a row. Default: none.',
    proxies,
  ),
  uploadMegabytes: setting(
    'STORYBAR_UPLOAD_MB',
    '4096',
    'Disk space, in megabytes, for uploads and results of running requests. Further uploads get 503.',
    wholeNumber(1, 1_000_000),
  ),
  uploadSeconds: setting(
    'STORYBAR_UPLOAD_SECONDS',
    '300',
    'Time limit for receiving a whole request, in seconds. A slower upload gets 408.',
    wholeNumber(1, 86_400),
  ),
  downloadSeconds: setting(
    'STORYBAR_DOWNLOAD_SECONDS',
    '3600',
    'Time limit for a client to read a whole response, in seconds. The connection of a slower client is closed, as is one that reads fewer than 2,048 bytes per second.',
    wholeNumber(1, 86_400),
  ),
  fetch: setting(
    'STORYBAR_FETCH',
    'public',
    'Where files of `asset_url` may be fetched from and webhooks may be sent to. `public`: public addresses and STORYBAR_FETCH_ALLOW. `any`: also the networks of this server; only for callers you trust. `off`: nowhere, and no files are sent to `put_url`.',
    oneOf(FETCH_MODES),
  ),
  fetchAllow: setting(
    'STORYBAR_FETCH_ALLOW',
    '',
    'Comma-separated host names, IP addresses and networks such as `10.1.0.0/16` that `asset_url` and webhooks may use although they are not public. Customers see the beginning of the responses to their webhooks.',
    hostsOrNetworks,
  ),
  putAllow: setting(
    'STORYBAR_PUT_ALLOW',
    '',
    'Comma-separated host names, IP addresses and networks such as `10.1.0.0/16` that `put_url` may use although they are not public, and over `http`. Every caller can then write to them what a `PUT` without a password can write.',
    hostsOrNetworks,
  ),
  replayMegabytes: setting(
    'STORYBAR_REPLAY_MB',
    '1024',
    'Disk space, in megabytes, for finished files that a repeated `idempotency-key` gets again. When it is full, the oldest files are deleted. A deleted file is rendered again, free of charge.',
    wholeNumber(0, 1_000_000),
  ),
  drainSeconds: setting(
    'STORYBAR_DRAIN_SECONDS',
    '0',
    'Seconds that a stopping server keeps accepting requests while `/ready` returns 503, so that load balancers switch to other servers first.',
    wholeNumber(0, 3_600),
  ),
  shutdownSeconds: setting(
    'STORYBAR_SHUTDOWN_SECONDS',
    '30',
    'Seconds that a stopping server gives running requests to finish, after STORYBAR_DRAIN_SECONDS.',
    wholeNumber(0, 3_600),
  ),
  metricsToken: setting(
    'STORYBAR_METRICS_TOKEN',
    '',
    'Bearer token for `/metrics` and for the details in `/health`. Default: no token. Then `/metrics` responds only to requests from this machine that no proxy forwarded, and `/health` only says whether the server is up.',
    (text) => ({ value: text.trim() }),
  ),
  logLevel: setting(
    'STORYBAR_LOG_LEVEL',
    'info',
    `Lowest level that is logged: one of ${LOG_LEVELS.join(', ')}.`,
    oneOf(LOG_LEVELS),
  ),
} as const;
