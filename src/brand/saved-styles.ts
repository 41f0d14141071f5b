// Styles that an account saved under a name: changes to them, for the API and the dashboard, and their use in requests.

import { checkSavedStyle, nameFault, parseReference, type SavedStyle } from '../caption/saved-style.ts';
import type { Form } from '../caption/field-reader.ts';
import { missingStyle, referencesIn, withSavedStyles } from '../caption/named-styles.ts';
import { AppError, type FieldFault } from '../errors.ts';
import type { ResponseOf } from '../api/response-schemas.ts';
import type { Actor } from '../store/audit.ts';
import type { StyleVersion, Styles } from '../store/brand/styles.ts';

export const STYLES_PATH = '/v1/styles';
const MAX_STYLES = 50;
/** Of all styles of an account together. */
const MAX_STYLE_VERSIONS = 100;

/** The style of a request, as it was sent. */
type StyledForm = Pick<Form, 'fields' | 'isJson' | 'faults'>;

export class SavedStyles {
  readonly #styles: Styles;

  constructor(styles: Styles) {
    this.#styles = styles;
  }

  /** `fields` are those of the style. */
  async put(
    accountId: string,
    name: string,
    fields: Readonly<Record<string, unknown>>,
    actor: Actor,
  ): Promise<StyleVersion> {
    const style = check(name, fields);
    const limits = { names: MAX_STYLES, versions: MAX_STYLE_VERSIONS };
    const saved = await this.#styles.put(accountId, { name, style: JSON.stringify(style) }, limits, actor);
    if (saved !== undefined) return saved;
    const detail = `An account can have up to ${MAX_STYLES} styles. Delete one first.`;
    throw new AppError('too_many_styles', detail, { limit: { limit: MAX_STYLES, actual: MAX_STYLES + 1 } });
  }

  async list(accountId: string): Promise<StyleVersion[]> {
    return await this.#styles.list(accountId);
  }

  /** `reference` is a name, or a name with a version such as `acme@3`. */
  async find(accountId: string, reference: string): Promise<StyleVersion> {
    const wanted = parseReference(reference);
    const found = wanted && (await this.#styles.find(accountId, wanted));
    if (found === undefined) throw notFound();
    return found;
  }

  async remove(accountId: string, name: string, actor: Actor): Promise<void> {
    if (!(await this.#styles.remove(accountId, name, actor))) throw notFound();
  }

  /** Replaces the names of saved styles in a request, once and for all. A name without a style becomes a fault of the form. */
  async resolve<Some extends StyledForm>(accountId: string, form: Some): Promise<Some> {
    const [resolved] = await this.resolveAll(accountId, [form]);
    return resolved ?? form;
  }

  /** Looks up the names of all forms together. */
  async resolveAll<Some extends StyledForm>(accountId: string, forms: readonly Some[]): Promise<readonly Some[]> {
    const references = new Set(forms.flatMap((form) => [...referencesIn(form)]));
    const wanted = [...references].flatMap((reference) => parseReference(reference) ?? []);
    if (wanted.length === 0) return forms;
    const found = await this.#styles.use(accountId, wanted);
    const isMissing = [...references].some((reference) => !found.has(reference));
    const names = isMissing ? (await this.list(accountId)).map(({ name }) => name) : [];
    return forms.map((form) =>
      withSavedStyles(form, (reference, pointer) => {
        const version = found.get(reference);
        return version === undefined ? missingStyle(reference, names, pointer) : styleOf(version);
      }),
    );
  }
}

export function styleToJson(saved: StyleVersion): ResponseOf<'SavedStyle'> {
  return { name: saved.name, version: saved.version, style: styleOf(saved), updated_at: saved.updatedAt };
}

/** The store has only what `put` checked. */
function styleOf({ style }: StyleVersion): SavedStyle {
  return JSON.parse(style) as SavedStyle;
}

/** Reports the faults of the name and of all fields together. */
function check(name: string, fields: Readonly<Record<string, unknown>>): SavedStyle {
  const faults: FieldFault[] = [];
  const fault = nameFault(name);
  if (fault) faults.push(fault);
  const style = checkSavedStyle(fields, faults);
  const [first] = faults;
  if (first === undefined) return style;
  const summary = faults.length === 1 ? first.detail : `The style has ${faults.length} errors.`;
  throw new AppError('invalid_fields', summary, { faults });
}

function notFound(): AppError {
  return new AppError('style_not_found', 'Style not found.');
}
