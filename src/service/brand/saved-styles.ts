// Styles that an account saved under a name: changes to them, for the API and the dashboard, and their use in requests.

import type { Caller } from '../account/caller.ts';
import { checkSavedStyle, nameFault, parseReference, type SavedStyle } from '../../engine/caption/saved-style.ts';
import type { ReadFields } from '../../engine/caption/field-reader.ts';
import {
  filesIn,
  filesOf,
  type FindStyle,
  missingFile,
  missingStyle,
  type NamedFile,
  referencesIn,
  withSavedStyles,
} from '../../engine/caption/named-styles.ts';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import { must } from '../../shared/must.ts';
import type { ResponseOf } from '../api/response-schemas.ts';
import type { Actor } from '../store/audit.ts';
import type { BrandFiles } from '../store/brand/brand-files.ts';
import type { StyleVersion, Styles } from '../store/brand/styles.ts';

export const STYLES_PATH = '/v1/styles';
/** Of all styles of an account together. */
const MAX_STYLE_VERSIONS = 100;

export class SavedStyles {
  readonly #styles: Styles;
  readonly #files: Pick<BrandFiles, 'ids'>;

  constructor(styles: Styles, files: Pick<BrandFiles, 'ids'>) {
    this.#styles = styles;
    this.#files = files;
  }

  /** `fields` are those of the style. */
  async put(
    { accountId, plan }: Pick<Caller, 'accountId' | 'plan'>,
    name: string,
    fields: Readonly<Record<string, unknown>>,
    actor: Actor,
  ): Promise<StyleVersion> {
    const [missing = []] = await this.#missingFiles(accountId, [filesOf(fields, '#')]);
    const style = check(name, fields, missing);
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

  /** Replaces the names of saved styles in a request, once and for all. A name that nothing has becomes a fault of the request. */
  async resolve<Some extends ReadFields>(accountId: string, request: Some): Promise<Some> {
    const [resolved] = await this.resolveAll(accountId, [request]);
    return resolved ?? request;
  }

  /** Looks up the names of all requests together: those of styles, and then those of fonts and logos, which styles also name. */
  async resolveAll<Some extends ReadFields>(accountId: string, requests: readonly Some[]): Promise<readonly Some[]> {
    const find = await this.#find(accountId, new Set(requests.flatMap(referencesIn)));
    const resolved = requests.map((request) => withSavedStyles(request, find));
    const named = resolved.map(({ values }, index) => filesIn(values, must(requests[index], 'the request').values));
    const missing = await this.#missingFiles(accountId, named);
    return resolved.map((one, index) => ({ ...one, faults: [...one.faults, ...(missing[index] ?? [])] }));
  }

  async #find(accountId: string, references: ReadonlySet<string>): Promise<FindStyle> {
    const wanted = [...references].flatMap((reference) => parseReference(reference) ?? []);
    const found = wanted.length === 0 ? new Map<string, StyleVersion>() : await this.#styles.use(accountId, wanted);
    const isMissing = [...references].some((reference) => !found.has(reference));
    const names = isMissing ? (await this.list(accountId)).map(({ name }) => name) : [];
    return (reference, pointer) => {
      const version = found.get(reference);
      return version === undefined ? missingStyle(reference, names, pointer) : styleOf(version);
    };
  }

  /** The faults of each list of files. */
  async #missingFiles(accountId: string, lists: readonly (readonly NamedFile[])[]): Promise<FieldFault[][]> {
    const known = lists.flat().length === 0 ? new Set() : await this.#files.ids(accountId);
    return lists.map((files) => files.filter(({ id }) => !known.has(id)).map(missingFile));
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

function notFound(): AppError {
  return new AppError('style_not_found', 'Style not found.');
}
