// The results of a run: figures, which may have a target, and violations of invariants, which always fail the run.

import { formatTable } from '../image/table.ts';

export interface Figure {
  readonly scenario: string;
  readonly name: string;
  readonly value: string;
  readonly target?: string | undefined;
  /** Undefined when the figure has no target. */
  readonly met?: boolean | undefined;
  /** If true, the target must be met on every machine, however slow or busy. */
  readonly isInvariant?: true;
}

export class Figures {
  readonly #figures: Figure[] = [];
  readonly #violations: { readonly scenario: string; readonly violation: string }[] = [];
  readonly #skipped: { readonly scenario: string; readonly reason: string }[] = [];

  add(figure: Figure): void {
    this.#figures.push(figure);
  }

  violation(scenario: string, violation: string): void {
    this.#violations.push({ scenario, violation });
  }

  skip(scenario: string, reason: string): void {
    this.#skipped.push({ scenario, reason });
  }

  get failed(): boolean {
    return this.hasViolations || this.#figures.some(({ met }) => met === false);
  }

  get hasViolations(): boolean {
    return this.#violations.length > 0 || this.#figures.some(({ met, isInvariant }) => met === false && isInvariant);
  }

  format(): string {
    const header = ['scenario', 'figure', 'value', 'target', ''];
    const rows = this.#figures.map(({ scenario, name, value, target = '', met }) => {
      return [scenario, name, value, target, met === undefined ? '' : met ? 'met' : 'MISSED'];
    });
    const skipped = this.#skipped.map(({ scenario, reason }) => `SKIPPED ${scenario}: ${reason}`);
    const violations = this.#violations.map(({ scenario, violation }) => `VIOLATED ${scenario}: ${violation}`);
    const missed = this.#figures
      .filter(({ met }) => met === false)
      .map(({ scenario, name, value, target }) => `MISSED ${scenario}: ${name} is ${value}, target ${target}`);
    return [formatTable([header, ...rows]), '', ...skipped, ...violations, ...missed, this.#verdict()].join('\n');
  }

  #verdict(): string {
    if (this.hasViolations) return 'At least one invariant was violated.';
    if (this.failed) return 'Every invariant held, but at least one target was missed.';
    return 'Every invariant held and every target was met.';
  }
}

/** Returns the value below which the given share of the values lies, or 0 when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share >= 0.999 && share < 1 ? 2 : 1)} %`;
}

export function milliseconds(value: number): string {
  return `${value.toFixed(0)} ms`;
}
