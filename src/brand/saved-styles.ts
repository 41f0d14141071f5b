// Styles that an account saved under a name: changes to them, for the API and the dashboard, and their use in requests.

import type { Caller } from '../account/caller.ts';
import { checkSavedStyle, nameFault, parseReference, type SavedStyle } from '../caption/saved-style.ts';
import type { Form } from '../caption/field-reader.ts';
import { logoIdIn, missingStyle, referencesIn, withSavedStyles } from '../caption/named-styles.ts';
import { AppError, type FieldFault } from '../errors.ts';
import { must } from '../primitives/must.ts';
import type { ResponseOf } from '../api/response-schemas.ts';
import type { Actor } from '../store/audit.ts';
import type { SavedLogos } from './saved-logos.ts';
import type { SavedFonts } from './saved-fonts.ts';
import type { StyleVersion, Styles } from '../store/brand/styles.ts';

export const STYLES_PATH = '/v1/styles';
/** Of all styles of an account together. */
const MAX_STYLE_VERSIONS = 100;

/** The style of a request, as it was sent. */
type StyledForm = Pick<Form, 'fields' | 'isJson' | 'faults'>;

export class SavedStyles {
  readonly #styles: Styles;
  readonly #logos: Pick<SavedLogos, 'faultsOf'>;
  readonly #fonts: Pick<SavedFonts, 'checkAll' | 'faultsOf'>;

  constructor(styles: Styles, logos: Pick<SavedLogos, 'faultsOf'>, fonts: Pick<SavedFonts, 'checkAll' | 'faultsOf'>) {
    this.#styles = styles;
    this.#logos = logos;
    this.#fonts = fonts;
  }

  /** `fields` are those of the style. */
  async put(
    { accountId, plan }: Pick<Caller, 'accountId' | 'plan'>,
    name: string,
    fields: Readonly<Record<string, unknown>>,
    actor: Actor,
  ): Promise<StyleVersion> {
    const style = check(name, fields, [
      ...(await this.#logos.faultsOf(accountId, logoOf(fields), '#/logo/id')),
      ...(await this.#fonts.faultsOf(accountId, fields['font'], '#/font')),
    ]);
    const { savedStyles: max } = plan.limits;
    const limits = { names: max, versions: Math.max(max, MAX_STYLE_VERSIONS) };
    const saved = await this.#styles.put(accountId, { name, style: JSON.stringify(style) }, limits, actor);
    if (saved !== undefined) return saved;
    const detail = `Your plan allows ${max} saved styles. Delete one first.`;
    throw new AppError('too_many_styles', detail, { limit: { limit: max, actual: max + 1 } });
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

  /** Also reports logos and fonts that don't exist. */
  async resolveAll<Some extends StyledForm>(accountId: string, forms: readonly Some[]): Promise<readonly Some[]> {
    const resolved = await this.#withLogos(accountId, forms, await this.#withStyles(accountId, forms));
    return await this.#fonts.checkAll(accountId, resolved);
  }

  /** Reports logos that don't exist, where the name of one was sent. */
  async #withLogos<Some extends StyledForm>(
    accountId: string,
    forms: readonly Some[],
    resolved: readonly Some[],
  ): Promise<readonly Some[]> {
    const missing = await this.#missingLogos(accountId, new Set(resolved.flatMap((form) => logoIdIn(form) ?? [])));
    if (missing.size === 0) return resolved;
    return resolved.map((form, index) => {
      const id = logoIdIn(form);
      const fault = id === undefined ? undefined : missing.get(id);
      if (fault === undefined) return form;
      const isSent = logoIdIn(must(forms[index], 'the form')) === id;
      return { ...form, faults: [...form.faults, { ...fault, pointer: isSent ? '#/style/logo/id' : '#/style' }] };
    });
  }

  async #missingLogos(accountId: string, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, FieldFault>> {
    const missing = new Map<string, FieldFault>();
    for (const id of ids) {
      for (const fault of await this.#logos.faultsOf(accountId, id, '#/style')) missing.set(id, fault);
    }
    return missing;
  }

  /** Looks up the names of all forms together. */
  async #withStyles<Some extends StyledForm>(accountId: string, forms: readonly Some[]): Promise<readonly Some[]> {
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
function check(name: string, fields: Readonly<Record<string, unknown>>, found: readonly FieldFault[]): SavedStyle {
  const faults: FieldFault[] = [...found];
  const fault = nameFault(name);
  if (fault) faults.push(fault);
  const style = checkSavedStyle(fields, faults);
  const [first] = faults;
  if (first === undefined) return style;
  const summary = faults.length === 1 ? first.detail : `The style has ${faults.length} errors.`;
  throw new AppError('invalid_fields', summary, { faults });
}

function logoOf({ logo }: Readonly<Record<string, unknown>>): string | undefined {
  return logoIdIn({ fields: [{ name: 'style', value: { logo } }], isJson: true, faults: [] });
}

function notFound(): AppError {
  return new AppError('style_not_found', 'Style not found.');
}
