// Samples the CPU time and peak memory of other processes from /proc, where they disappear when they exit.

import { readFileSync } from 'node:fs';

/** CLK_TCK is 100 on every common Linux. */
const TICK_MS = 10;

interface Usage {
  readonly cpu: number;
  readonly rssMb: number;
}

export class ProcessorTime {
  readonly #before: ReadonlyMap<number, Usage>;
  readonly #latest = new Map<number, Usage>();

  constructor(pids: readonly number[]) {
    this.#before = new Map(pids.map((pid) => [pid, usageOf(pid) ?? { cpu: 0, rssMb: 0 }]));
  }

  sample(): void {
    for (const pid of this.#before.keys()) {
      const usage = usageOf(pid);
      if (usage) this.#latest.set(pid, usage);
    }
  }

  /** Returns the CPU time of all processes since construction, and the sum of their peak memory. */
  figures(): Usage {
    this.sample();
    const used = [...this.#latest].map(([pid, { cpu, rssMb }]) => ({
      cpu: cpu - (this.#before.get(pid)?.cpu ?? 0),
      rssMb,
    }));
    return {
      cpu: used.reduce((sum, { cpu }) => sum + cpu, 0),
      rssMb: used.reduce((sum, { rssMb }) => sum + rssMb, 0),
    };
  }
}

function usageOf(pid: number): Usage | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /su, '')
      .split(' ');
    const peak = /VmHWM:\s+(?<kb>\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.groups?.['kb'];
    return { cpu: (Number(fields[11]) + Number(fields[12])) * TICK_MS, rssMb: Number(peak ?? 0) / 1024 };
  } catch {
    // The process has exited, so its last sample counts.
    return undefined;
  }
}
