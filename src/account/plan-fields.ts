// Reads one object of a JSON file field by field. A fault is noted and a harmless value handed on, so that reading goes on
// and all faults come together.

interface TextRule {
  readonly pattern: RegExp;
  /** What would be right. */
  readonly say: string;
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
    this.#isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
    if (!this.#isObject) faults.push(`${where === '' ? 'the file' : where} must be an object`);
    this.#values = this.#isObject ? (json as Record<string, unknown>) : {};
  }

  text(name: string, { pattern, say, fallback }: TextRule): string {
    const value = this.#take(name, fallback);
    if (typeof value === 'string' && (value === fallback || pattern.test(value))) return value;
    this.#fault(name, `must be ${say}`);
    return '';
  }

  whole(name: string, { least, fallback }: { readonly least: number; readonly fallback?: number }): number {
    const value = this.#take(name, fallback);
    if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
    this.#fault(name, `must be a whole number, at least ${least}`);
    return least;
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

  /** An object whose values are texts, as pairs. */
  texts(name: string): [string, string][] {
    const object = this.object(name);
    return Object.keys(object.#values).map((key) => [key, object.text(key, { pattern: /\S/u, say: 'a text' })]);
  }

  /** A misspelt name must not be taken for a default. */
  nothingElse(): void {
    for (const name of Object.keys(this.#values)) {
      if (!this.#known.has(name) && name !== '$schema') this.#fault(name, 'is not known');
    }
  }

  #take(name: string, fallback: unknown): unknown {
    this.#known.add(name);
    return Object.hasOwn(this.#values, name) ? this.#values[name] : fallback;
  }

  #fault(name: string, what: string): void {
    // What is no object at all has been named; its missing fields say nothing new.
    if (this.#isObject) this.#faults.push(`${this.#path(name)} ${what}`);
  }

  #path(name: string): string {
    return this.#where === '' ? name : `${this.#where}.${name}`;
  }
}
