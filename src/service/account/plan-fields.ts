// Reads one object of a JSON file, field by field. An invalid field is recorded as a fault and replaced by a harmless
// value, so that all faults of the file are found together.

interface TextRule {
  readonly pattern: RegExp;
  /** Describes a valid text, for the fault. */
  readonly expected: string;
  readonly fallback?: string;
}

export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #where: string;
  readonly #faults: string[];
  readonly #known = new Set<string>();
  readonly #isObject: boolean;

  /** `where` is the path to the object, empty for the file itself. */
  constructor(json: unknown, where: string, faults: string[]) {
    this.#where = where;
    this.#faults = faults;
    const isObject = isRecord(json);
    this.#isObject = isObject;
    if (!isObject) faults.push(`${where === '' ? 'the file' : where} must be an object`);
    this.#values = isObject ? json : {};
  }

  text(name: string, { pattern, expected, fallback }: TextRule): string {
    const value = this.#take(name, fallback);
    if (typeof value === 'string' && (value === fallback || pattern.test(value))) return value;
    this.#fault(name, `must be ${expected}; ${found(value)}`);
    return '';
  }

  integer(name: string, { min, fallback }: { readonly min: number; readonly fallback?: number }): number {
    const value = this.#take(name, fallback);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
    this.#fault(name, `must be an integer of at least ${min}; ${found(value)}`);
    return min;
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.#take(name, fallback);
    if (typeof value === 'boolean') return value;
    this.#fault(name, `must be true or false; ${found(value)}`);
    return fallback;
  }

  object(name: string): Fields {
    return new Fields(this.#take(name, {}), this.#path(name), this.#faults);
  }

  list(name: string): unknown[] {
    const value = this.#take(name, undefined);
    if (Array.isArray(value) && value.length > 0) return value;
    this.#fault(name, 'must be a list with at least one entry');
    return [];
  }

  /** Reads an object whose values are texts, as pairs. */
  texts(name: string): [string, string][] {
    const object = this.object(name);
    return Object.keys(object.#values).map((key) => [key, object.text(key, { pattern: /\S/u, expected: 'a text' })]);
  }

  /** Reports fields that were not read, because a misspelled name would silently leave the default in place. */
  nothingElse(): void {
    for (const name of Object.keys(this.#values)) {
      if (!this.#known.has(name) && name !== '$schema') this.#fault(name, 'is not a known field');
    }
  }

  #take(name: string, fallback: unknown): unknown {
    this.#known.add(name);
    return Object.hasOwn(this.#values, name) ? this.#values[name] : fallback;
  }

  #fault(name: string, what: string): void {
    // A value that isn't an object has been reported already, so its missing fields would add nothing.
    if (this.#isObject) this.#faults.push(`${this.#path(name)} ${what}`);
  }

  #path(name: string): string {
    return this.#where === '' ? name : `${this.#where}.${name}`;
  }
}

const MAX_SHOWN = 40;

function found(value: unknown): string {
  if (value === undefined) return 'it is missing';
  const json = JSON.stringify(value);
  return `got ${json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN)}...` : json}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
