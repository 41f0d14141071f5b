// The only reader of the environment. Everything is read once, checked as a whole and handed down; docs/configuration.md
// is generated from the table below.

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
  readonly describe: string;
  readonly fallback: string;
  /** Returns the value, or a sentence that says what would be right. */
  readonly parse: Parse<Value>;
}

const SANDBOX_MODES = ['required', 'auto', 'limits', 'off'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;

const SETTINGS = {
  port: setting('PORT', '8080', 'TCP port of the HTTP server; 0 takes a free one.', wholeNumber(0, 65_535)),
  host: setting('HOST', '127.0.0.1', 'Address to listen on. `0.0.0.0` opens the service to the network.', nonEmpty),
  dataDirectory: setting(
    'STORYBAR_DATA_DIR',
    './data',
    'Where the database and the work directories live. Created when missing.',
    (text) => (text.trim() === '' ? { fault: 'must name a directory' } : { value: path.resolve(text) }),
  ),
  databaseUrl: setting(
    'STORYBAR_DATABASE_URL',
    '',
    'A PostgreSQL database, `postgres://user:password@host/name`, for more than one server. Default: an embedded one in the data directory.',
    databaseUrl,
  ),
  plansFile: setting(
    'STORYBAR_PLANS',
    '',
    'The plans file; see docs/plans.md. Default: `./plans.json` if there is one, else the built-in plans.',
    (text) => ({ value: text === '' ? '' : path.resolve(text) }),
  ),
  marketplaceName: setting(
    'STORYBAR_MARKETPLACE_NAME',
    'rapidapi',
    'The API marketplace callers may come through: the word in its header names, `x-<name>-proxy-secret`.',
    (text) =>
      /^[a-z0-9-]{1,40}$/u.test(text) ? { value: text } : { fault: 'must be lower-case letters, digits and dashes' },
  ),
  marketplaceSecrets: setting(
    'STORYBAR_MARKETPLACE_SECRETS',
    '',
    'What the gateway of the marketplace proves itself with; several, separated by commas, while one is being replaced. Default: nobody comes through a marketplace.',
    (text) => ({ value: list(text) }),
  ),
  trustProxy: setting(
    'STORYBAR_TRUST_PROXY',
    '',
    'Whose `x-forwarded-for` to believe: addresses or networks of your reverse proxies, separated by commas, or the number of proxies in a row. Default: nobody.',
    proxies,
  ),
  replayMegabytes: setting(
    'STORYBAR_REPLAY_MB',
    '1024',
    'Disk space for files that a repeated `idempotency-key` gets again; the oldest go first. What is gone is rendered again, free of charge.',
    wholeNumber(0, 1_000_000),
  ),
  uploadMegabytes: setting(
    'STORYBAR_UPLOAD_MB',
    '4096',
    'Uploads under way at the same time, together; beyond it callers get 503 before they upload.',
    wholeNumber(1, 1_000_000),
  ),
  metricsToken: setting(
    'STORYBAR_METRICS_TOKEN',
    '',
    'Bearer token that `/metrics` asks for. Default: none, so keep the path from strangers in your reverse proxy.',
    (text) => ({ value: text.trim() }),
  ),
  keepRendersDays: setting(
    'STORYBAR_KEEP_RENDERS_DAYS',
    '90',
    'How long single renders stay in the history of an account. Sums per day stay for good.',
    wholeNumber(1, 3_650),
  ),
  billing: setting(
    'STORYBAR_BILLING',
    'manual',
    'Who takes the money for plans: `manual` (nobody: choosing a plan grants it) or `stripe`; see docs/payments.md.',
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
    'Signing secrets (`whsec_...`) of the webhook endpoint, separated by commas; two while one is replaced.',
    webhookSecrets,
  ),
  stripeApiUrl: setting(
    'STORYBAR_STRIPE_API_URL',
    '',
    "Another address for Stripe's API, for a proxy or for tests. Default: Stripe's own.",
    stripeApiUrl,
  ),
  workers: setting(
    'STORYBAR_WORKERS',
    String(availableParallelism()),
    'Render worker processes for images and overlays, each rendering one at a time. Default: one per core. With a queue, 0 leaves all renders to workers elsewhere.',
    wholeNumber(0, 256),
  ),
  videoWorkers: setting(
    'STORYBAR_VIDEO_WORKERS',
    String(Math.max(1, Math.floor(availableParallelism() / 4))),
    'Render worker processes for videos. Each uses several cores. Default: one per four cores, at least one. 0 as above.',
    wholeNumber(0, 256),
  ),
  workerTasks: setting(
    'STORYBAR_WORKER_TASKS',
    '2000',
    'Tasks after which a worker process is replaced by a fresh one. `1` gives every task a process of its own, slowly.',
    wholeNumber(1, 1_000_000),
  ),
  workerMemory: setting(
    'STORYBAR_WORKER_MEMORY_MB',
    '2048',
    'Memory one worker for images may take, in megabytes; then it is ended.',
    megabytes(256),
  ),
  videoWorkerMemory: setting('STORYBAR_VIDEO_WORKER_MEMORY_MB', '4096', 'The same for videos.', megabytes(256)),
  outputBytes: setting(
    'STORYBAR_OUTPUT_MB',
    '2048',
    'The largest file a worker may write, in megabytes.',
    megabytes(1),
  ),
  sandbox: setting(
    'STORYBAR_SANDBOX',
    'auto',
    'How render workers are locked away; see [hardening](hardening.md). `auto`: the strongest level this machine offers; ' +
      '`required`: do not start without bubblewrap; `limits`: resource limits at most; `off`: separate processes only.',
    oneOf(SANDBOX_MODES),
  ),
  searchPath: setting(
    'PATH',
    '/usr/local/bin:/usr/bin:/bin',
    'Where `bwrap` and `prlimit` are looked for.',
    (text) => ({
      value: text,
    }),
  ),
  queueLength: setting(
    'STORYBAR_QUEUE',
    '64',
    'Renders that may wait for a worker, images and videos each, before callers get 503.',
    wholeNumber(0, 100_000),
  ),
  deadlineSeconds: setting(
    'STORYBAR_DEADLINE_SECONDS',
    '60',
    'Longest time from a complete upload to a finished image; then 504.',
    wholeNumber(1, 3_600),
  ),
  videoDeadlineSeconds: setting(
    'STORYBAR_VIDEO_DEADLINE_SECONDS',
    '300',
    'The same for videos.',
    wholeNumber(1, 86_400),
  ),
  drainSeconds: setting(
    'STORYBAR_DRAIN_SECONDS',
    '0',
    'How long a server that was asked to stop goes on serving, while `/ready` says 503, so that load balancers send new requests elsewhere first.',
    wholeNumber(0, 3_600),
  ),
  shutdownSeconds: setting(
    'STORYBAR_SHUTDOWN_SECONDS',
    '30',
    'How long running requests may finish after that, when no new ones are taken any more.',
    wholeNumber(0, 3_600),
  ),
  publicUrl: setting(
    'STORYBAR_PUBLIC_URL',
    '',
    'Where callers reach the service, for links in errors, e.g. `https://captions.example.com`. Default: the host they asked.',
    urlOrEmpty,
  ),
  natsUrl: setting(
    'STORYBAR_NATS_URL',
    '',
    'NATS with JetStream, to render on other machines: `nats://host:4222`, `tls://user:password@host`, several separated by commas. Default: render here.',
    natsUrls,
  ),
  natsCredentials: setting(
    'STORYBAR_NATS_CREDS',
    '',
    'A NATS credentials file, instead of a password in the URL.',
    anyText,
  ),
  natsAuthorities: setting(
    'STORYBAR_NATS_CA',
    '',
    'A file with the certificates (PEM) of the authorities that vouch for the NATS servers; implies TLS. Default with `tls://`: the public ones.',
    anyText,
  ),
  natsReplicas: setting(
    'STORYBAR_NATS_REPLICAS',
    '1',
    'On how many servers of a NATS cluster the queue is kept: 1, 3 or 5. Counts when the first server makes the queue.',
    wholeNumber(1, 5),
  ),
  internalHost: setting(
    'STORYBAR_INTERNAL_HOST',
    '127.0.0.1',
    'Address on which a server with a queue listens for its workers. Keep it inside your network.',
    nonEmpty,
  ),
  internalPort: setting(
    'STORYBAR_INTERNAL_PORT',
    '8081',
    'Port for the same; 0 takes a free one.',
    wholeNumber(0, 65_535),
  ),
  internalUrl: setting(
    'STORYBAR_INTERNAL_URL',
    '',
    'Where workers reach that listener, `http://` or `https://` (through a proxy of yours). Default: the address above, or the host name when it listens on all.',
    urlOrEmpty,
  ),
  segmentSeconds: setting(
    'STORYBAR_SEGMENT_SECONDS',
    '10',
    'With a queue and more than one free worker machine, videos at least twice this long are cut into segments of about this length, rendered side by side and joined. 0: every video is rendered by one worker.',
    wholeNumber(0, 3_600),
  ),
  signUp: setting(
    'STORYBAR_SIGN_UP',
    'open',
    '`open`: anybody who reaches the site may sign up. `closed`: people come by `storybar users invite`.',
    oneOf(['open', 'closed'] as const),
  ),
  operatorEmail: setting(
    'STORYBAR_OPERATOR_EMAIL',
    '',
    "The first operator's e-mail address. Until it has a user, `serve` prints a link to choose its password.",
    (text) =>
      text === '' || text.includes('@') ? { value: text.trim().toLowerCase() } : { fault: 'must be an address' },
  ),
  smtpUrl: setting(
    'STORYBAR_SMTP_URL',
    '',
    'A mail server, `smtps://user:password@host`, for mails to people who sign up or forgot their password. Needs STORYBAR_MAIL_FROM and STORYBAR_PUBLIC_URL. Default: no mails; see docs/dashboard.md.',
    (text) =>
      text === '' || (/^smtps?:\/\//u.test(text) && URL.canParse(text))
        ? { value: text }
        : { fault: 'must begin with smtp:// or smtps://' },
  ),
  mailFrom: setting('STORYBAR_MAIL_FROM', '', 'The sender of mails, `Storybar <captions@example.com>`.', (text) => ({
    value: text.trim(),
  })),
  logLevel: setting('STORYBAR_LOG_LEVEL', 'info', `One of ${LOG_LEVELS.join(', ')}.`, oneOf(LOG_LEVELS)),
} as const;

const SECRET = /_URL$|SECRET|PASSWORD|_KEY$|TOKEN/u;

type Parsed<Item> = Item extends Setting<infer Value> ? Value : never;
export type Settings = { readonly [Name in keyof typeof SETTINGS]: Parsed<(typeof SETTINGS)[Name]> };

export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`bad settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'SettingsError';
    this.faults = faults;
  }
}

/** Throws a `SettingsError` that names every fault. */
export function readSettings(environment: Readonly<Record<string, string | undefined>> = process.env): Settings {
  const faults: string[] = [];
  const entries = Object.entries(SETTINGS).map(([name, { variable, fallback, parse }]) => {
    const text = environment[variable] ?? fallback;
    const parsed = parse(text);
    if ('value' in parsed) return [name, parsed.value];
    // What may hold a password is not repeated.
    faults.push(`${variable} ${parsed.fault}${SECRET.test(variable) ? '' : `, not ${JSON.stringify(text)}`}`);
    return [name, undefined];
  });
  if (faults.length > 0) throw new SettingsError(faults);
  return Object.freeze(Object.fromEntries(entries)) as Settings;
}

/** What a process was given, by name; for one that checks that it was given nothing. */
export function environmentVariables(): string[] {
  return Object.keys(process.env);
}

export function describeSettings(): { variable: string; fallback: string; describe: string }[] {
  return Object.values(SETTINGS).map(({ variable, fallback, describe }) => ({
    variable,
    // The one of this machine would make the page different on every machine.
    fallback: variable.endsWith('_WORKERS') ? 'from the number of cores' : fallback,
    describe,
  }));
}

function setting<Value>(variable: string, fallback: string, describe: string, parse: Parse<Value>): Setting<Value> {
  return { variable, fallback, describe, parse };
}
