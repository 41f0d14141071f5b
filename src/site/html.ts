// HTML templates that escape their values. Only values of type `Html` are inserted as markup.

export class Html {
  readonly text: string;
  /** The scripts that its elements need. A page loads those of everything in it. */
  readonly modules: readonly string[];

  constructor(text: string, modules: readonly string[] = []) {
    this.text = text;
    this.modules = modules;
  }
}

export type Content = Html | string | number | false | null | undefined | readonly Content[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  const text = strings.map((part, index) => part + (index < values.length ? render(values[index]) : '')).join('');
  return new Html(text, values.flatMap(modulesOf));
}

export function withModule(module: string, { text, modules }: Html): Html {
  return new Html(text, [...modules, module]);
}

function modulesOf(value: Content): readonly string[] {
  if (value instanceof Html) return value.modules;
  return typeof value === 'object' && value !== null ? value.flatMap(modulesOf) : [];
}

export function escape(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (char) => ESCAPES[char] ?? char);
}

function render(value: Content): string {
  if (value === false || value === null || value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(render).join('');
  return escape(String(value));
}
