// Settings for rendering on several machines through NATS.

import { anyText, natsUrls, nonEmpty, urlOrEmpty, wholeNumber } from './parse.ts';
import { setting } from './setting.ts';

export const CLUSTER_SETTINGS = {
  natsUrl: setting(
    'STORYBAR_NATS_URL',
    '',
    'NATS servers with JetStream, to render on other machines: comma-separated URLs such as `nats://host:4222` or `tls://user:password@host`. Default: render on this machine only.',
    natsUrls,
  ),
  natsCredentials: setting(
    'STORYBAR_NATS_CREDS',
    '',
    'NATS credentials file, instead of a password in the URL.',
    anyText,
  ),
  natsAuthorities: setting(
    'STORYBAR_NATS_CA',
    '',
    'PEM file with the certificate authorities to trust for NATS; implies TLS. Default with `tls://`: the public authorities.',
    anyText,
  ),
  natsReplicas: setting(
    'STORYBAR_NATS_REPLICAS',
    '1',
    'Number of NATS servers that keep a copy of the queue: 1, 3 or 5. Only applies when the queue is created, by the first API server.',
    wholeNumber(1, 5),
  ),
  internalHost: setting(
    'STORYBAR_INTERNAL_HOST',
    '127.0.0.1',
    'With STORYBAR_NATS_URL: address on which an API server listens for workers. Keep it inside your network.',
    nonEmpty,
  ),
  internalPort: setting(
    'STORYBAR_INTERNAL_PORT',
    '8081',
    'With STORYBAR_NATS_URL: port on which an API server listens for workers. 0 chooses a free port.',
    wholeNumber(0, 65_535),
  ),
  internalUrl: setting(
    'STORYBAR_INTERNAL_URL',
    '',
    'Address at which workers reach that port, `http://` or `https://` (through your own proxy). Default: STORYBAR_INTERNAL_HOST and STORYBAR_INTERNAL_PORT, with the host name if the server listens on all addresses.',
    urlOrEmpty,
  ),
} as const;
