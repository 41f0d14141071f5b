// The files in deploy/ and, where HAProxy and NATS are installed, the programs with these files.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PLANS, parsePlans } from '../src/service/account/plans.ts';
import { SETTINGS_EXIT, USAGE_EXIT } from '../src/cli/exit-codes.ts';
import { ERRORS } from '../src/shared/error-table.ts';
import { describeSettings } from '../src/service/config/settings.ts';
import { fitMemory } from '../src/service/dispatch/fit-memory.ts';
import { checkConfiguration, hasHaproxy, SHIPPED_CONFIGURATION, startHaproxy } from './running-haproxy.ts';
import { hasNats, startNats } from './running-nats.ts';
import { form, health, post, startServer, until, WITH_METRICS_TOKEN } from './running-server.ts';
import { sharedServer } from './shared-server.ts';
import { startWorker } from './running-worker.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const DEPLOY = path.join(ROOT, 'deploy');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const SYSTEMD_UNIT = 'deploy/systemd/storybar.service';
const MANIFESTS = readdirSync(path.join(DEPLOY, 'kubernetes')).map((file) => `deploy/kubernetes/${file}`);

/** The first capture group of every match. */
function all(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] ?? '');
}

/** The number after a name, in the notation of compose files or of Kubernetes manifests. */
function numberAfter(name: string, text: string): number {
  return Number(new RegExp(`${name}(?:: "?|, value: ")(\\d+)`, 'u').exec(text)?.[1] ?? Number.NaN);
}

describe('container files', () => {
  const defaultOf = (variable: string): number =>
    Number(describeSettings().find((setting) => setting.variable === variable)?.defaultText);

  it.each(['compose.yaml', 'Dockerfile', 'deploy/env.example', SYSTEMD_UNIT, 'docs/operating.md', ...MANIFESTS])(
    '%s mentions only settings that exist',
    (file) => {
      // STORYBAR_PORT is a variable of compose.yaml, and STORYBAR_TICKETS is the name of the NATS stream.
      const known = new Set([
        'STORYBAR_PORT',
        'STORYBAR_TICKETS',
        ...describeSettings().map(({ variable }) => variable),
      ]);
      expect(all(/\b(STORYBAR_[A-Z_]+[A-Z])\b/gu, read(file)).filter((name) => !known.has(name))).toEqual([]);
    },
  );

  it.each([
    ['compose.yaml', 'stop_grace_period', read('compose.yaml')],
    ['Kubernetes', 'terminationGracePeriodSeconds', read('deploy/kubernetes/api-server.yaml')],
  ])(
    '%s gives an API server enough time to drain and to finish the longest video before it is killed',
    (_platform, grace, text) => {
      const [drain, finish] = [
        numberAfter('STORYBAR_DRAIN_SECONDS', text),
        numberAfter('STORYBAR_SHUTDOWN_SECONDS', text),
      ];
      expect(finish).toBeGreaterThan(defaultOf('STORYBAR_VIDEO_DEADLINE_SECONDS'));
      expect(numberAfter(grace, text)).toBeGreaterThanOrEqual(drain + finish + 10);
    },
  );

  it.each([
    ['Dockerfile', read('Dockerfile').replaceAll(/[",[\]]/gu, '')],
    ['docs/hardening.md', read('docs/hardening.md')],
    [SYSTEMD_UNIT, read(SYSTEMD_UNIT)],
  ])('%s starts Node with the same V8 flags as `npm start`', (_file, text) => {
    const [command] = read('package.json').match(/node .*storybar\.js/u) ?? ['nothing'];
    expect(command).toContain('--initial-old-space-size=');
    expect(text).toContain(command);
  });

  it('tells systemd to start a server again whose database is unavailable, but not one with wrong settings', () => {
    const [stays = ''] = all(/^RestartPreventExitStatus=(.+)$/gmu, read(SYSTEMD_UNIT));
    expect(stays.split(' ').map(Number)).toEqual([USAGE_EXIT, SETTINGS_EXIT]);
    expect(stays).not.toContain(String(ERRORS.storage_unavailable.exit));
    expect(read(SYSTEMD_UNIT)).toMatch(/^Restart=always$/mu);
    const [seconds = ''] = all(/^TimeoutStopSec=(\d+)$/gmu, read(SYSTEMD_UNIT));
    const needed = defaultOf('STORYBAR_DRAIN_SECONDS') + defaultOf('STORYBAR_SHUTDOWN_SECONDS') + 12;
    expect(Number(seconds)).toBeGreaterThanOrEqual(needed);
  });

  it('ships examples without a usable password, and Compose refuses to start without one', () => {
    const secrets = [
      ...all(/^(\w*(?:PASSWORD|TOKEN|SECRET\w*|ACCESS_KEY_ID)=.*)$/gmu, read('deploy/env.example')),
      ...all(
        /^ {2}([\w-]*(?:password|token|secret[\w-]*|access-key-id|-url): .*)$/gmu,
        read('deploy/kubernetes/secret.example.yaml'),
      ),
    ];
    expect(secrets.length).toBeGreaterThan(12);
    expect(secrets.filter((line) => !/(?:=|: "")$/u.test(line))).toEqual([]);
    for (const name of ['POSTGRES_PASSWORD', 'NATS_FRONT_PASSWORD', 'NATS_WORKER_PASSWORD', 'STORYBAR_METRICS_TOKEN']) {
      const uses = all(new RegExp(`\\$\\{${name}(.*?)\\}`, 'gu'), read('compose.yaml'));
      expect(uses.length).toBeGreaterThan(0);
      expect(new Set(uses)).toEqual(new Set([':?see deploy/env.example']));
    }
  });

  it('gives a worker enough time to finish the longest video before it is killed', () => {
    const [, worker = ''] = read('compose.yaml').split('\n  worker:\n');
    const longest = defaultOf('STORYBAR_VIDEO_DEADLINE_SECONDS');
    expect(numberAfter('stop_grace_period', worker)).toBeGreaterThan(longest);
    const grace = numberAfter('terminationGracePeriodSeconds', read('deploy/kubernetes/worker.yaml'));
    expect(grace).toBeGreaterThan(longest);
    expect(Number(/timeout server (\d+)s/u.exec(read('deploy/haproxy.cfg'))?.[1])).toBeGreaterThan(longest);
  });

  it('copies everything into the image that the npm package ships, because the server reads it at run time', () => {
    const sources = all(/^COPY (?:--from=build )?(.+) \S+$/gmu, read('Dockerfile'))
      .join(' ')
      .split(' ');
    const copied = new Set(sources.map((file) => file.replace('/app/', '')));
    const shipped = (JSON.parse(read('package.json')) as { files: string[] }).files;
    expect(shipped.filter((file) => !copied.has(file))).toEqual([]);
  });

  it('ships the client that `storybar send` imports, with the package.json that chooses its code for Node.js', () => {
    const { files, imports } = JSON.parse(read('package.json')) as {
      files: string[];
      imports: { '#client': { default: string } };
    };
    const folder = path.posix.dirname(path.posix.normalize(imports['#client'].default));
    expect(files).toEqual(expect.arrayContaining([folder, path.posix.join(folder, '../package.json')]));
  });

  it('copies only files into the image that exist and that .dockerignore lets through', () => {
    const sources = all(/^COPY (?!--from)(.+) \S+$/gmu, read('Dockerfile')).flatMap((line) => line.split(' '));
    expect(sources.length).toBeGreaterThan(10);
    const passes = new Set(all(/^!(.+)$/gmu, read('.dockerignore')));
    expect(sources.filter((source) => !existsSync(path.join(ROOT, source)) || !passes.has(source))).toEqual([]);
  });

  it('lists every Kubernetes manifest, and uses only secrets of the example', () => {
    const listed = all(/^ {2}#? ?- (kubernetes\/\S+)$/gmu, read('deploy/kustomization.yaml'));
    const files = MANIFESTS.filter((file) => !file.includes('secret.example')).map((file) =>
      file.replace('deploy/', ''),
    );
    expect(listed.toSorted()).toEqual(files.toSorted());
    const secrets = read('deploy/kubernetes/secret.example.yaml').split('---');
    const used = MANIFESTS.flatMap((file) =>
      all(/secretKeyRef: \{ (name: \S+, key: [\w-]+)(?:, optional: true)? \}/gu, read(file)),
    );
    expect(used.length).toBeGreaterThan(3);
    const isMissing = (reference: string): boolean => {
      const [name = '', key = ''] = reference.replaceAll(/name: |key: /gu, '').split(', ');
      return !secrets.some((secret) => secret.includes(`name: ${name}\n`) && secret.includes(`\n  ${key}: `));
    };
    expect(used.filter(isMissing)).toEqual([]);
  });

  it.each([
    ['compose.yaml', read('compose.yaml').split('\n  worker:\n')[1] ?? '', /mem_limit: (\d+)g/u],
    ['Kubernetes', read('deploy/kubernetes/worker.yaml'), /limits: \{ memory: (\d+)Gi \}/u],
  ])('%s gives a worker enough memory for all its processes', (_platform, text, limit) => {
    const memory = (kind: string): { workers: number; memoryBytes: number } => ({
      workers: numberAfter(`STORYBAR_${kind}WORKERS`, text),
      memoryBytes: numberAfter(`STORYBAR_${kind}WORKER_MEMORY_MB`, text) * 1024 ** 2,
    });
    const wanted = { image: memory(''), video: memory('VIDEO_') };
    expect(wanted.image.workers + wanted.video.workers).toBeGreaterThan(1);
    const containerBytes = Number(limit.exec(text)?.[1]) * 1024 ** 3;
    // The measured peaks are in docs/hardening.md.
    expect(fitMemory(wanted, containerBytes)).toEqual(wanted);
  });

  it.each([
    ['compose.yaml', read('compose.yaml'), read('deploy/env.example')],
    ['Kubernetes', read('deploy/kubernetes/api-server.yaml'), read('deploy/kubernetes/api-server.yaml')],
  ])(
    '%s ships with sign-up closed and has a place for everything a public server needs',
    (_platform, text, example) => {
      expect(text).toMatch(/STORYBAR_SIGN_UP(?:: \$\{STORYBAR_SIGN_UP:-|, value: )closed/u);
      for (const name of ['PUBLIC_URL', 'SMTP_URL', 'MAIL_FROM', 'STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRETS']) {
        expect([text, example].map((file) => file.includes(`STORYBAR_${name}`))).toEqual([true, true]);
      }
      for (const name of ['BILLING', 'METRICS_TOKEN', 'OPERATOR_EMAIL', 'SIGN_UP']) {
        expect([text, example].map((file) => file.includes(`STORYBAR_${name}`))).toEqual([true, true]);
      }
      expect(text).toContain('/etc/storybar/plans.json');
    },
  );

  it('ships the built-in plans as a file to edit', () => {
    expect(parsePlans(JSON.parse(read('deploy/plans.json')))).toEqual(DEFAULT_PLANS);
  });

  it('gives workers a seccomp profile that allows bubblewrap what it needs and nothing that render workers must not do', () => {
    const profile = JSON.parse(read('deploy/seccomp.json')) as {
      defaultAction: string;
      syscalls: { names: string[] }[];
    };
    expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
    const allowed = new Set(profile.syscalls.flatMap(({ names }) => names));
    const needed = ['clone', 'unshare', 'mount', 'umount2', 'pivot_root', 'capset', 'seccomp', 'prctl', 'prlimit64'];
    expect(needed.filter((name) => !allowed.has(name))).toEqual([]);
    const onlyOnX64 = ['access', 'arch_prctl', 'epoll_wait', 'open', 'pipe', 'poll', 'readlink', 'stat', 'vfork'];
    expect(onlyOnX64.filter((name) => !allowed.has(name))).toEqual([]);
    const dangerous = [
      'bpf',
      'init_module',
      'kexec_load',
      'keyctl',
      'perf_event_open',
      'ptrace',
      'setns',
      'io_uring_setup',
    ];
    expect(dangerous.filter((name) => allowed.has(name))).toEqual([]);
    expect(read('compose.yaml')).toContain('seccomp:./deploy/seccomp.json');
    expect(read('deploy/kubernetes/worker.yaml')).toMatch(/type: Localhost, localhostProfile: storybar\.json/u);
    expect(read('deploy/kubernetes/worker.yaml')).toContain('hostUsers: false');
  });

  it('runs no container as root or with a writable root file system', () => {
    for (const file of MANIFESTS.filter((manifest) => read(manifest).includes('kind: Deployment'))) {
      for (const rule of ['runAsNonRoot: true', 'readOnlyRootFilesystem: true', 'capabilities: { drop: [ALL] }']) {
        expect([file, rule, read(file).includes(rule)]).toEqual([file, rule, true]);
      }
    }
    expect(read('Dockerfile')).toMatch(/^USER node$/mu);
    expect(all(/^ {4}(<<: \*program)$/gmu, read('compose.yaml'))).toHaveLength(2);
  });
});

describe('monitoring files', () => {
  it('scrape API servers and workers with the token, and let Prometheus reach them', () => {
    const jobs = read('deploy/prometheus/prometheus.yml').split('- job_name: ').slice(1);
    expect(jobs.map((job) => job.split('\n')[0])).toEqual(['storybar-api', 'storybar-worker']);
    expect(jobs.filter((job) => !job.includes('credentials_file: '))).toEqual([]);
    const monitors = read('deploy/kubernetes/pod-monitor.yaml').split('---');
    expect(monitors.map((monitor) => all(/replacement: (\S+) \}/gu, monitor)[0])).toEqual([
      'storybar-api',
      'storybar-worker',
    ]);
    expect(monitors.filter((monitor) => !monitor.includes('key: metrics-token'))).toEqual([]);
    const [worker = ''] = read('deploy/kubernetes/network-policies.yaml').split('---');
    expect(worker).toMatch(/name: monitoring \} \} \}\]\n {6}ports: \[\{ port: 8080 \}\]/u);
  });

  it('scale workers by a rule that counts renders in the database', () => {
    const queries = all(/query: (\S+)\{/gu, read('deploy/kubernetes/autoscaling.yaml'));
    expect(queries).toEqual(['storybar:pool_demand', 'storybar:pool_demand']);
    const rules = read('deploy/prometheus/alerts.yml');
    expect(rules).toContain('record: storybar:pool_demand');
    expect(rules).toContain('storybar_fleet_async_renders{state="waiting"}');
  });
});

describe('health probes', () => {
  it('health probes use paths to which an API server responds with 200', async () => {
    const server = await sharedServer();
    const paths = new Set([
      ...all(/httpGet: \{ path: (\S+),/gu, read('deploy/kubernetes/api-server.yaml')),
      ...all(/http-check send meth GET uri (\S+)/gu, read('deploy/haproxy.cfg')),
      ...all(/\$\{process\.env\.PORT\}(\/\w+)/gu, read('Dockerfile')),
    ]);
    expect([...paths].toSorted()).toEqual(['/health', '/ping', '/ready']);
    for (const probe of paths) expect([probe, (await fetch(server.url + probe)).status]).toEqual([probe, 200]);
  });
});

describe.skipIf(!hasHaproxy)('load balancer (needs haproxy)', () => {
  it('accepts the configuration without warnings', () => {
    const { status, said } = checkConfiguration(SHIPPED_CONFIGURATION);
    expect({ status, warnings: said.includes('WARNING') }).toEqual({ status: 0, warnings: false });
  });

  it('exposes neither metrics nor health, and logs no query strings', async () => {
    const server = await sharedServer();
    const balancer = await startHaproxy([Number(new URL(server.url).port)]);
    try {
      const hidden = [
        '/metrics',
        '/metrics/',
        '/metrics?a=b',
        '/%6detrics',
        '/health',
        '/health/',
        '//health',
        '/healt%68?a',
      ];
      for (const at of hidden) {
        expect([at, (await fetch(balancer.url + at, WITH_METRICS_TOKEN)).status]).toEqual([at, 404]);
      }
      expect((await fetch(`${balancer.url}/docs?link=secret`)).status).toBe(200);
      await until(() => balancer.log().includes('GET /docs\n'));
      expect(balancer.log()).not.toContain('secret');
      expect((await fetch(`${server.url}/metrics`, WITH_METRICS_TOKEN)).status).toBe(200);
    } finally {
      await balancer.stop();
    }
  });
});

describe.skipIf(!hasNats)('NATS (needs nats-server)', () => {
  it('gives API servers and workers all permissions they need', async () => {
    const environment = { NATS_FRONT_PASSWORD: 'front-secret', NATS_WORKER_PASSWORD: 'worker-secret' };
    const nats = await startNats({ configuration: readFileSync(path.join(DEPLOY, 'nats.conf'), 'utf8'), environment });
    const urlFor = (user: string, password: string): string => nats.url.replace('//', `//${user}:${password}@`);
    const [server, worker] = await Promise.all([
      startServer({
        STORYBAR_NATS_URL: urlFor('front', environment.NATS_FRONT_PASSWORD),
        STORYBAR_WORKERS: '0',
        STORYBAR_VIDEO_WORKERS: '0',
        STORYBAR_INTERNAL_PORT: '0',
      }),
      startWorker(urlFor('worker', environment.NATS_WORKER_PASSWORD)),
    ]);
    try {
      await until(() => health(server).then(({ renderer }) => renderer.images.ready === 1));
      const response = await post(server, form({ width: '64', height: '64', text: 'a' }));
      expect(response.status).toBe(200);
      await until(() => worker.health().then(({ tickets }) => tickets.used === 1));
      // Without the token, a worker reports only whether it takes tickets.
      expect(await (await fetch(worker.healthUrl)).json()).toEqual({ status: 'ok' });
      const metricsUrl = new URL('/metrics', worker.healthUrl);
      const statuses = [await fetch(metricsUrl), await fetch(metricsUrl, WITH_METRICS_TOKEN)].map(
        ({ status }) => status,
      );
      expect(statuses).toEqual([401, 200]);
      // The worker never tries anything that it has no permission for.
      expect(worker.stderr()).not.toContain('Permissions Violation');
      await until(() =>
        health(server).then(({ renderer }) => renderer.remote?.queue.images.taken === 0 && renderer.remote.isConnected),
      );
    } finally {
      await server.stop();
      await worker.stop();
      await nats.stop();
    }
  });
});
