// Bounds what the substitutions of a font can make of one character, whatever text it is in. Lookups are applied one after the
// other. From the last to the first, each glyph gets a number that the rules of a lookup can't exceed: the glyphs that a rule writes
// have at most the sum of those that it replaces. Where contexts restrict the rules is ignored.

import { FontReader } from './font-bytes.ts';
import {
  coverageOf,
  type LayoutTable,
  MAX_CONTEXT_DEPTH,
  numbersAt,
  offsetsAt,
  readLayoutTable,
  type Subtable,
  timesApplied,
} from './layout-table.ts';
import { damagedFont } from './refusal.ts';

/** Replaces glyphs in a row by others. */
interface Rule {
  readonly first: number;
  readonly others: readonly number[];
  readonly to: readonly number[];
}

export interface Substitutions {
  readonly layout: LayoutTable;
  /** By lookup. */
  readonly rules: readonly (readonly Rule[])[];
}

const TYPES = { context: 5, chain: 6, extension: 7 };
/** Subtables can be shared, so a small file can have many rules. Real fonts have up to about 50,000. */
const MAX_RULES = 300_000;
/** Steps of the calculation, about a second. */
const MAX_WORK = 20_000_000;

/**
 * The features that HarfBuzz applies before all others, step by step, in the scripts of the world: alphabets, Arabic, those of
 * India, the universal ones, Khmer and Myanmar. The lookups of a step are applied in their order.
 */
const STEPS = [
  'rvrn',
  'rvrn|stch|ccmp locl|isol|fina|fin2|fin3|medi|med2|init|rlig|calt',
  'rvrn|locl ccmp|nukt|akhn|rphf|rkrf|pref|blwf|abvf|half|pstf|vatu|cjct',
  'rvrn|locl ccmp nukt akhn|rphf|pref|rkrf abvf blwf half pstf vatu cjct|isol init medi fina',
  'rvrn|locl ccmp|pref blwf abvf pstf cfar',
  'rvrn|locl ccmp|rphf|pref|blwf|pstf',
].map((steps) => steps.split('|').map((step) => step.split(' ')));

export function readSubstitutions(gsub: Uint8Array): Substitutions {
  const layout = readLayoutTable(gsub, TYPES);
  let left = MAX_RULES;
  const rules = layout.lookups.map(({ subtables }) => {
    const own: Rule[] = [];
    for (const subtable of subtables) {
      for (const rule of rulesOf(subtable)) {
        own.push(rule);
        left -= 1 + rule.to.length + rule.others.length;
        if (left < 0) throw damagedFont('it has too many substitutions');
      }
    }
    return own;
  });
  return { layout, rules };
}

/** All glyphs that rules write. */
export function substitutes({ rules }: Substitutions): Set<number> {
  return new Set(rules.flatMap((list) => list.flatMap(({ to }) => to)));
}

/** Returns for each glyph the most that rules can make of it, as a sum of these sizes of glyphs. */
export function boundGrowth(sizes: Float64Array, substitutions: Substitutions): Float64Array {
  const most = sizes.slice();
  const growth = new Growth(substitutions);
  for (const steps of STEPS) {
    const bounds = passesOf(substitutions.layout, steps).reduceRight(
      (after, lookup) => growth.before(lookup, after, 0),
      sizes,
    );
    raise(most, bounds);
  }
  return most;
}

/** The lookups that are applied one after the other. */
function passesOf({ features }: LayoutTable, steps: readonly (readonly string[])[]): number[] {
  const early = new Set(steps.flat());
  const late = [...features.keys()].filter((tag) => !early.has(tag));
  return [...steps, late].flatMap((tags) => {
    const lookups = new Set(tags.flatMap((tag) => [...(features.get(tag) ?? [])]));
    return [...lookups].toSorted((a, b) => a - b);
  });
}

class Growth {
  readonly #substitutions: Substitutions;
  #left = MAX_WORK;

  constructor(substitutions: Substitutions) {
    this.#substitutions = substitutions;
  }

  /** Returns the bounds before a lookup is applied, from those after it. */
  before(index: number, after: Float64Array, depth: number): Float64Array {
    const { layout, rules } = this.#substitutions;
    const lookup = layout.lookups[index];
    if (lookup === undefined) return after;
    if (depth > MAX_CONTEXT_DEPTH) throw damagedFont('its contextual rules apply each other');
    const own = rules[index] ?? [];
    this.#spend(own.length + (1 + lookup.contexts.length) * (1 + after.length / 16));
    const bounds = after.slice();
    for (const { first, others, to } of own) {
      // A bound beyond all numbers must stay comparable.
      const least = Math.min(sumOf(after, to) - sumOf(after, others), Number.MAX_SAFE_INTEGER);
      if (least > (bounds[first] ?? 0)) bounds[first] = least;
    }
    for (const applications of lookup.contexts) {
      let inner = after;
      for (const application of applications.toReversed()) {
        const nested = layout.lookups[application.lookup];
        const times = nested ? timesApplied(lookup, nested, application) : 0;
        for (let time = 0; time < times; time += 1) inner = this.before(application.lookup, inner, depth + 1);
      }
      raise(bounds, inner);
    }
    return bounds;
  }

  #spend(work: number): void {
    this.#left -= work;
    if (this.#left < 0) throw damagedFont('its substitutions are too complex');
  }
}

function sumOf(bounds: Float64Array, glyphs: readonly number[]): number {
  let sum = 0;
  for (const glyph of glyphs) sum += bounds[glyph] ?? 0;
  return sum;
}

function raise(bounds: Float64Array, others: Float64Array): void {
  for (let glyph = 0; glyph < bounds.length; glyph += 1) {
    if ((others[glyph] ?? 0) > (bounds[glyph] ?? 0)) bounds[glyph] = others[glyph] ?? 0;
  }
}

function* rulesOf(subtable: Subtable): Generator<Rule> {
  const { type, format, table, at } = subtable;
  const covered = coverageOf(subtable);
  if (type === 1 && format === 1) {
    const delta = new FontReader(table, at + 4).uint16();
    for (const first of covered) yield { first, others: [], to: [(first + delta) & 0xffff] };
    return;
  }
  const after = type === 8 ? afterContext(table, at) : at + 4;
  const lists = type === 1 || type === 8 ? numbersAt(table, after) : offsetsAt(table, after, at);
  for (const [index, glyph] of covered.entries()) {
    const entry = lists[index];
    if (entry !== undefined) yield* rulesFor(glyph, type, table, entry);
  }
}

/** `entry` is the substitute, or the place of a list of substitutes. */
function* rulesFor(first: number, type: number, table: Uint8Array, entry: number): Generator<Rule> {
  if (type === 1 || type === 8) yield { first, others: [], to: [entry] };
  else if (type === 2) yield { first, others: [], to: numbersAt(table, entry) };
  else if (type === 3) for (const other of numbersAt(table, entry)) yield { first, others: [], to: [other] };
  else if (type === 4) {
    for (const ligature of offsetsAt(table, entry, entry)) {
      const reader = new FontReader(table, ligature);
      const [written, count] = [reader.uint16(), reader.uint16()];
      const others = Array.from({ length: Math.max(0, count - 1) }, () => reader.uint16());
      yield { first, others, to: [written] };
    }
  } else throw damagedFont(`it has substitutions of the unknown type ${type}`);
}

/** The place behind the glyphs before and after a reverse substitution. */
function afterContext(table: Uint8Array, at: number): number {
  const before = new FontReader(table, at + 4).uint16();
  const lookahead = new FontReader(table, at + 6 + 2 * before).uint16();
  return at + 8 + 2 * before + 2 * lookahead;
}
