// `npm run report`: runs the tests and benchmarks whose results others may want to repeat, and writes one Markdown file with the
// machine, the date, the versions, the commands and their output.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, release, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** Scripts of package.json, with the options that make them short enough to repeat. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  simulate: ['--seconds', '120'],
  fuzz: ['--seconds', '10'],
  prove: ['--lenient'],
  'bench:image': [],
  'bench:video': ['own'],
  'bench:server': [],
  'bench:store': [],
};
/** Benchmarks of videos take minutes for each run. */
const [RUNS_VARIABLE, RUNS] = ['BENCH_RUNS', '1'];
const GIB = 1024 ** 3;
const USAGE = `usage: npm run report -- [name ...] [--output docs/results.md]
names: ${Object.keys(COMMANDS).join(', ')}; all of them by default`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { output: { type: 'string', default: 'docs/results.md' }, help: { type: 'boolean', default: false } },
});

/** Times of all processors since the system started, in ticks. A virtual machine whose host is busy loses some of it. */
function processorTimes(): { readonly all: number; readonly stolen: number } {
  if (!existsSync('/proc/stat')) return { all: 0, stolen: 0 };
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.trim().split(/\s+/u) ?? [];
  // user, nice, system, idle, iowait, irq, softirq, steal
  const times = ticks.slice(0, 8).map(Number);
  return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
}

interface Section {
  readonly markdown: string;
  readonly isGood: boolean;
}

function run(name: string): Section {
  const command = ['npm', 'run', '--silent', name, '--', ...(COMMANDS[name] ?? [])];
  const typed = `${RUNS_VARIABLE}=${RUNS} ${command.join(' ')}`;
  console.log(typed);
  const [started, before] = [performance.now(), processorTimes()];
  const { status, stdout } = spawnSync('npm', command.slice(1), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 ** 2,
    env: { ...process.env, [RUNS_VARIABLE]: RUNS },
  });
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  const outcome = status === 0 ? 'succeeded' : `failed with status ${status}`;
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const after = processorTimes();
  const stolen = ((100 * (after.stolen - before.stolen)) / Math.max(1, after.all - before.all)).toFixed(0);
  const head = `## ${name}\n\n\`${typed}\` ${outcome} after ${seconds} s. Load average at the end: ${load}. The host took ${stolen} % of the processors.`;
  return { markdown: `${head}\n\n\`\`\`text\n${stdout.trim()}\n\`\`\`\n`, isGood: status === 0 };
}

function machine(): string {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
  const rows = [
    ['Date', new Date().toISOString()],
    ['Storybar', `${version}, commit ${commit}`],
    ['Processor', `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${arch()}`],
    ['Memory', `${(totalmem() / GIB).toFixed(1)} GiB`],
    ['System', `${process.platform} ${release()}`],
    ['Node.js', process.version],
    ['Load average at the start', (loadavg()[0] ?? 0).toFixed(1)],
  ];
  return `| | |\n| --- | --- |\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}\n`;
}

function main(): number {
  const unknown = positionals.filter((name) => !Object.hasOwn(COMMANDS, name));
  if (values.help || unknown.length > 0) {
    console.log(unknown.length > 0 ? `unknown: ${unknown.join(', ')}\n${USAGE}` : USAGE);
    return unknown.length > 0 ? 2 : 0;
  }
  const about = machine();
  const sections = (positionals.length > 0 ? positionals : Object.keys(COMMANDS)).map(run);
  mkdirSync(path.dirname(values.output), { recursive: true });
  const intro = `# Results\n\nWritten by \`npm run report\`. [Proof](proof.md) and [benchmarks](benchmarks.md) explain the figures.\n`;
  writeFileSync(values.output, [intro, about, ...sections.map(({ markdown }) => markdown)].join('\n'));
  console.log(`written: ${values.output}`);
  return sections.every(({ isGood }) => isGood) ? 0 : 1;
}

process.exitCode = main();
