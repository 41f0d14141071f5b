// What a run brought: figures, those with a target judged, and faults, which are never allowed.

import { formatTable } from '../image/table.ts';

export interface Figure {
  readonly scenario: string;
  readonly name: string;
  readonly value: string;
  readonly target?: string | undefined;
  /** Undefined: shown, not judged. */
  readonly met?: boolean | undefined;
  /** Wanted of every machine, however slow or busy. */
  readonly always?: true;
}

export class Figures {
  readonly #figures: Figure[] = [];
  readonly #faults: { readonly scenario: string; readonly fault: string }[] = [];
  readonly #skipped: { readonly scenario: string; readonly reason: string }[] = [];

  add(figure: Figure): void {
    this.#figures.push(figure);
  }

  fault(scenario: string, fault: string): void {
    this.#faults.push({ scenario, fault });
  }

  skip(scenario: string, reason: string): void {
    this.#skipped.push({ scenario, reason });
  }

  get failed(): boolean {
    return this.broken || this.#figures.some(({ met }) => met === false);
  }

  /** Something happened that must never happen. */
  get broken(): boolean {
    return this.#faults.length > 0 || this.#figures.some(({ met, always }) => met === false && always);
  }

  format(): string {
    const header = ['scenario', 'figure', 'value', 'target', ''];
    const rows = this.#figures.map(({ scenario, name, value, target = '', met }) => {
      return [scenario, name, value, target, met === undefined ? '' : met ? 'met' : 'MISSED'];
    });
    const skipped = this.#skipped.map(({ scenario, reason }) => `skipped ${scenario}: ${reason}`);
    const faults = this.#faults.map(({ scenario, fault }) => `BROKEN ${scenario}: ${fault}`);
    const missed = this.#figures
      .filter(({ met }) => met === false)
      .map(({ scenario, name, value, target }) => `MISSED ${scenario}: ${name} is ${value}, wanted ${target}`);
    const held = this.broken ? 'Not proven.' : 'Every invariant held.';
    const verdict = this.failed ? held : 'Every invariant held and every target was met.';
    return [formatTable([header, ...rows]), '', ...skipped, ...faults, ...missed, verdict].join('\n');
  }
}

/** The value below which the given part of them lies; 0 when there are none. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

export function percent(part: number): string {
  return `${(part * 100).toFixed(part >= 0.999 && part < 1 ? 2 : 1)} %`;
}

export function milliseconds(value: number): string {
  return `${value.toFixed(0)} ms`;
}
