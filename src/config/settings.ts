// The only file that reads the environment. All settings are read and checked once, at startup. docs/configuration.md is
// generated from the table below.

import { availableParallelism } from 'node:os';
import path from 'node:path';
import {
  anyText,
  databaseUrl,
  list,
  megabytes,
  natsUrls,
  nonEmpty,
  oneOf,
  type Parse,
  proxies,
  stripeApiUrl,
  urlOrEmpty,
  webhookSecrets,
  wholeNumber,
} from './parse.ts';

interface Setting<Value> {
  readonly variable: string;
  readonly description: string;
  readonly defaultText: string;
  readonly parse: Parse<Value>;
}

const SANDBOX_MODES = ['required', 'auto', 'limits', 'off'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;

const SETTINGS = {
  port: setting('PORT', '8080', 'TCP port of the HTTP server. 0 chooses a free port.', wholeNumber(0, 65_535)),
  host: setting(
    'HOST',
    '127.0.0.1',
    'Address to listen on. `0.0.0.0` makes the service reachable from the network.',
    nonEmpty,
  ),
  dataDirectory: setting(
    'STORYBAR_DATA_DIR',
    './data',
    'Directory for the database and for files during a render. Created if it is missing.',
    (text) => (text.trim() === '' ? { fault: 'must name a directory' } : { value: path.resolve(text) }),
  ),
  databaseUrl: setting(
    'STORYBAR_DATABASE_URL',
    '',
    'PostgreSQL database, such as `postgres://user:password@host/name`. Use it for more than one server. Default: an embedded SQLite database in the data directory.',
    databaseUrl,
  ),
  plansFile: setting(
    'STORYBAR_PLANS',
    '',
    'Plans file; see docs/plans.md. Default: `./plans.json` if it exists, otherwise the built-in plans.',
    (text) => ({ value: text === '' ? '' : path.resolve(text) }),
  ),
  marketplaceName: setting(
    'STORYBAR_MARKETPLACE_NAME',
    'rapidapi',
    'API marketplace whose gateway may forward requests: the name in its headers, such as `x-<name>-proxy-secret`.',
    (text) =>
      /^[a-z0-9-]{1,40}$/u.test(text)
        ? { value: text }
        : { fault: 'must consist of 1 to 40 lower-case letters, digits and dashes' },
  ),
  marketplaceSecrets: setting(
    'STORYBAR_MARKETPLACE_SECRETS',
    '',
    "Comma-separated secrets that authenticate the marketplace's gateway. List two while you rotate one. Default: requests from a marketplace are refused.",
    (text) => ({ value: list(text) }),
  ),
  trustProxy: setting(
    'STORYBAR_TRUST_PROXY',
    '',
    'Reverse proxies whose `x-forwarded-for` header is trusted: comma-separated addresses or networks, or the number of proxies in a row. Default: none.',
    proxies,
  ),
  replayMegabytes: setting(
    'STORYBAR_REPLAY_MB',
    '1024',
    'Disk space, in megabytes, for finished files that a repeated `idempotency-key` gets again. When it is full, the oldest files are deleted. A deleted file is rendered again, free of charge.',
    wholeNumber(0, 1_000_000),
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
  metricsToken: setting(
    'STORYBAR_METRICS_TOKEN',
    '',
    'Bearer token required for `/metrics`. Default: no token. In that case, block the path in your reverse proxy.',
    (text) => ({ value: text.trim() }),
  ),
  keepRendersDays: setting(
    'STORYBAR_KEEP_RENDERS_DAYS',
    '90',
    "Days to keep single renders in an account's history. Daily totals are kept forever.",
    wholeNumber(1, 3_650),
  ),
  billing: setting(
    'STORYBAR_BILLING',
    'manual',
    'Payment provider. `manual`: no payments; choosing a plan grants it. `stripe`: see docs/payments.md.',
    oneOf(['manual', 'stripe']),
  ),
  stripeSecretKey: setting(
    'STORYBAR_STRIPE_SECRET_KEY',
    '',
    'Secret key (`sk_...`) or restricted key (`rk_...`) of the Stripe account.',
    (text) => (/^(?:(?:sk|rk)_\S+)?$/u.test(text) ? { value: text } : { fault: 'must begin with sk_ or rk_' }),
  ),
  stripeWebhookSecrets: setting(
    'STORYBAR_STRIPE_WEBHOOK_SECRETS',
    '',
    'Comma-separated signing secrets (`whsec_...`) of the webhook endpoint. List two while you rotate one.',
    webhookSecrets,
  ),
  stripeApiUrl: setting(
    'STORYBAR_STRIPE_API_URL',
    '',
    "Address of Stripe's API, to use a proxy or for tests. Default: Stripe's own.",
    stripeApiUrl,
  ),
  workers: setting(
    'STORYBAR_WORKERS',
    String(availableParallelism()),
    'Number of render worker processes for images and overlays. Each renders one at a time. Default: one per CPU core. 0 is allowed with STORYBAR_NATS_URL and leaves these renders to other machines.',
    wholeNumber(0, 256),
  ),
  videoWorkers: setting(
    'STORYBAR_VIDEO_WORKERS',
    String(Math.max(1, Math.floor(availableParallelism() / 4))),
    'Number of render worker processes for videos. Each uses several CPU cores. Default: one per four cores, but at least one. 0 is allowed with STORYBAR_NATS_URL and leaves videos to other machines.',
    wholeNumber(0, 256),
  ),
  workerTasks: setting(
    'STORYBAR_WORKER_TASKS',
    '2000',
    'Number of tasks after which a worker process is replaced. `1` runs every task in a process of its own, which is slow.',
    wholeNumber(1, 1_000_000),
  ),
  workerMemory: setting(
    'STORYBAR_WORKER_MEMORY_MB',
    '2048',
    'Memory limit of an image worker, in megabytes. A worker that exceeds it is killed.',
    megabytes(256),
  ),
  videoWorkerMemory: setting(
    'STORYBAR_VIDEO_WORKER_MEMORY_MB',
    '4096',
    'Memory limit of a video worker, in megabytes. A worker that exceeds it is killed.',
    megabytes(256),
  ),
  outputBytes: setting('STORYBAR_OUTPUT_MB', '2048', 'Largest file a worker may write, in megabytes.', megabytes(1)),
  sandbox: setting(
    'STORYBAR_SANDBOX',
    'auto',
    'Isolation of render workers; see [hardening](hardening.md). `auto`: the strongest level this machine supports. ' +
      '`required`: do not start without bubblewrap. `limits`: resource limits at most. `off`: separate processes only.',
    oneOf(SANDBOX_MODES),
  ),
  searchPath: setting(
    'PATH',
    '/usr/local/bin:/usr/bin:/bin',
    'Directories to search for `bwrap` and `prlimit`.',
    anyText,
  ),
  queueLength: setting(
    'STORYBAR_QUEUE',
    '64',
    'Number of renders that may wait for a worker, counted separately for images and videos. Further requests get 503.',
    wholeNumber(0, 100_000),
  ),
  deadlineSeconds: setting(
    'STORYBAR_DEADLINE_SECONDS',
    '60',
    'Time limit for an image, from the complete upload to the finished file, in seconds. Then the request gets 504.',
    wholeNumber(1, 3_600),
  ),
  videoDeadlineSeconds: setting(
    'STORYBAR_VIDEO_DEADLINE_SECONDS',
    '300',
    'Time limit for a video, from the complete upload to the finished file, in seconds. Then the request gets 504.',
    wholeNumber(1, 86_400),
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
  publicUrl: setting(
    'STORYBAR_PUBLIC_URL',
    '',
    'Public address of the service, such as `https://captions.example.com`, for links in errors and emails. Default: the host of the request.',
    urlOrEmpty,
  ),
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
  segmentSeconds: setting(
    'STORYBAR_SEGMENT_SECONDS',
    '10',
    'With STORYBAR_NATS_URL and several free workers: videos at least twice this long are split into segments of about this length, rendered in parallel and joined. 0 renders every video on one worker.',
    wholeNumber(0, 3_600),
  ),
  signUp: setting(
    'STORYBAR_SIGN_UP',
    'open',
    '`open`: anyone who can reach the site can sign up. `closed`: users need an invitation from `storybar users invite`.',
    oneOf(['open', 'closed'] as const),
  ),
  operatorEmail: setting(
    'STORYBAR_OPERATOR_EMAIL',
    '',
    'Email address of the first operator. Until this user exists, `storybar serve` prints a link to choose a password.',
    (text) =>
      text === '' || text.includes('@') ? { value: text.trim().toLowerCase() } : { fault: 'must be an email address' },
  ),
  smtpUrl: setting(
    'STORYBAR_SMTP_URL',
    '',
    'Mail server, such as `smtps://user:password@host`, for sign-up and password emails. Requires STORYBAR_MAIL_FROM and STORYBAR_PUBLIC_URL. Default: no emails; see docs/dashboard.md.',
    (text) =>
      text === '' || (/^smtps?:\/\//u.test(text) && URL.canParse(text))
        ? { value: text }
        : { fault: 'must begin with smtp:// or smtps://' },
  ),
  mailFrom: setting(
    'STORYBAR_MAIL_FROM',
    '',
    'Sender of emails, such as `Storybar <captions@example.com>`.',
    (text) => ({
      value: text.trim(),
    }),
  ),
  logLevel: setting(
    'STORYBAR_LOG_LEVEL',
    'info',
    `Lowest level that is logged: one of ${LOG_LEVELS.join(', ')}.`,
    oneOf(LOG_LEVELS),
  ),
} as const;

const SECRET = /_URL$|SECRET|PASSWORD|_KEY$|TOKEN/u;

type Parsed<Item> = Item extends Setting<infer Value> ? Value : never;
export type Settings = { readonly [Name in keyof typeof SETTINGS]: Parsed<(typeof SETTINGS)[Name]> };

export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`invalid settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'SettingsError';
    this.faults = faults;
  }
}

/** Throws a `SettingsError` that lists every invalid setting. */
export function readSettings(environment: Readonly<Record<string, string | undefined>> = process.env): Settings {
  const faults: string[] = [];
  const entries = Object.entries(SETTINGS).map(([name, { variable, defaultText, parse }]) => {
    const text = environment[variable] ?? defaultText;
    const parsed = parse(text);
    if ('value' in parsed) return [name, parsed.value];
    // A value that may contain a password is not repeated.
    faults.push(`${variable} ${parsed.fault}${SECRET.test(variable) ? '' : `; got ${JSON.stringify(text)}`}`);
    return [name, undefined];
  });
  if (faults.length > 0) throw new SettingsError(faults);
  return Object.freeze(Object.fromEntries(entries)) as Settings;
}

/** The names of this process's environment variables: a sandboxed process checks that it has none. */
export function environmentVariables(): string[] {
  return Object.keys(process.env);
}

export function describeSettings(): { variable: string; defaultText: string; description: string }[] {
  return Object.values(SETTINGS).map(({ variable, defaultText, description }) => ({
    variable,
    // These defaults depend on the machine, which must not change the generated page. The description explains them.
    defaultText: variable.endsWith('_WORKERS') ? '' : defaultText,
    description,
  }));
}

function setting<Value>(
  variable: string,
  defaultText: string,
  description: string,
  parse: Parse<Value>,
): Setting<Value> {
  return { variable, defaultText, description, parse };
}
