// The pages of saved styles, with previews that the renderer draws.

import type { FastifyReply } from 'fastify';
import { type SavedStyles, styleToJson } from '../../service/brand/saved-styles.ts';
import type { SavedFiles } from '../../service/brand/saved-files.ts';
import { checkSavedStyle, nameFault, type SavedStyle } from '../../engine/caption/saved-style.ts';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import { must } from '../../shared/must.ts';
import type { StyleVersion } from '../../service/store/brand/styles.ts';
import { field, time } from '../account/fields.ts';
import { form, PRIVATE_HEADERS, seeOther, sendPrivate, type Tab } from '../account/frame.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { callerOf, type PlaygroundAccountDependencies } from '../playground/playground-account.ts';
import { type OwnFiles, readTypedStyle, styleFields, styleOf, type TypedStyle, typedStyleOf } from './style-form.ts';
import { PREVIEW_SIZE, type StylePreviews } from './style-preview.ts';

const BRAND_PATH = '/dashboard/brand';
export const LOGOS_PAGE = `${BRAND_PATH}/logos`;
export const FONTS_PAGE = `${BRAND_PATH}/fonts`;
const NEW_PATH = `${BRAND_PATH}/new`;
const STYLES_PATH = `${BRAND_PATH}/styles`;
const PREVIEW_PATH = `${BRAND_PATH}/preview.png`;
const PHOTO = 'cairn.jpg';

export const BRAND_VIEWS: readonly Tab[] = [
  { path: BRAND_PATH, label: 'Styles' },
  { path: LOGOS_PAGE, label: 'Logos' },
  { path: FONTS_PAGE, label: 'Fonts' },
];

export interface StylePagesDependencies extends Pick<PlaygroundAccountDependencies, 'store' | 'plans'> {
  readonly site: Site;
  readonly styles: SavedStyles;
  readonly files: Pick<SavedFiles, 'list'>;
  readonly previews: StylePreviews;
}

interface Editor {
  /** The style before, if there is one. */
  readonly saved?: StyleVersion;
  readonly name: string;
  readonly typed: TypedStyle;
  readonly faults: readonly FieldFault[];
}

const NEW_STYLE: Editor = { name: '', typed: typedStyleOf({}), faults: [] };

export function addStylePages(routes: SignedInRoutes, dependencies: StylePagesDependencies): void {
  const { site, styles, files, previews } = dependencies;
  const show = async (visit: SignedInVisit, editor: Editor): Promise<FastifyReply> => {
    const body = editorBody(site, visit, editor, await ownFiles(files, visit.user.accountId));
    const title = editor.saved ? editor.saved.name : 'New style';
    const status = editor.faults.length > 0 ? 422 : 200;
    return await sendPrivate(site, visit, { title, body, status, modules: ['brand.js'] });
  };
  const save = async (visit: SignedInVisit, editor: Editor): Promise<FastifyReply> => {
    const { name, typed, saved } = editor;
    const style = styleOf(typed, saved && styleOfVersion(saved));
    const caller = await callerOf(dependencies, visit.user);
    try {
      await styles.put(caller, name, style, `user:${visit.user.id}`);
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'storage_unavailable') throw error;
      const faults = error.faults ?? [{ pointer: '#/name', code: 'conflict', detail: error.message } as const];
      return await show(visit, { ...editor, faults });
    }
    return seeOther(visit, `${STYLES_PATH}/${name}?done=style-saved`);
  };
  const sendPreview = async (visit: SignedInVisit, style: SavedStyle): Promise<FastifyReply> => {
    const png = await previews.draw(visit.user.accountId, style);
    return visit.reply.headers({ ...PRIVATE_HEADERS, 'content-type': 'image/png' }).send(png);
  };

  routes.page({ path: BRAND_PATH, permission: 'develop', tab: 'Brand' }, async (visit) => {
    const actions = html`<a class="button" href="${NEW_PATH}">New style</a>`;
    const body = listBody(site, await styles.list(visit.user.accountId));
    return await sendPrivate(site, visit, { title: 'Brand', views: BRAND_VIEWS, actions, body });
  });
  routes.page({ path: PREVIEW_PATH, permission: 'develop' }, async (visit) => {
    const query = visit.request.query as Readonly<Record<string, unknown>>;
    const saved = await savedIn(dependencies, visit, query['saved']);
    const typed = readTypedStyle((name) => (typeof query[name] === 'string' ? query[name] : ''));
    return await sendPreview(visit, checked(styleOf(typed, saved)));
  });
  routes.page({ path: NEW_PATH, permission: 'develop' }, async (visit) => await show(visit, NEW_STYLE));
  routes.action({ path: NEW_PATH, permission: 'develop' }, async (visit, fields) => {
    const editor = { name: fields.text('name').trim(), typed: readTypedStyle((name) => fields.text(name)), faults: [] };
    const fault = nameFault(editor.name);
    return fault ? await show(visit, { ...editor, faults: [fault] }) : await save(visit, editor);
  });
  routes.page({ path: `${STYLES_PATH}/:name`, permission: 'develop' }, async (visit) => {
    const saved = await styles.find(visit.user.accountId, nameIn(visit));
    return await show(visit, { saved, name: saved.name, typed: typedStyleOf(styleOfVersion(saved)), faults: [] });
  });
  routes.page({ path: `${STYLES_PATH}/:name/preview.png`, permission: 'develop' }, async (visit) => {
    return await sendPreview(visit, styleOfVersion(await styles.find(visit.user.accountId, nameIn(visit))));
  });
  routes.action({ path: `${STYLES_PATH}/:name`, permission: 'develop' }, async (visit, fields) => {
    const saved = await styles.find(visit.user.accountId, nameIn(visit));
    const typed = readTypedStyle((name) => fields.text(name));
    return await save(visit, { saved, name: saved.name, typed, faults: [] });
  });
  routes.action({ path: `${STYLES_PATH}/:name/delete`, permission: 'develop' }, async (visit) => {
    await styles.remove(visit.user.accountId, nameIn(visit), `user:${visit.user.id}`);
    return seeOther(visit, `${BRAND_PATH}?done=style-deleted`);
  });
}

async function ownFiles(files: Pick<SavedFiles, 'list'>, accountId: string): Promise<OwnFiles> {
  return { logos: await files.list(accountId, 'logo'), fonts: await files.list(accountId, 'font') };
}

async function savedIn(
  { styles }: StylePagesDependencies,
  { user }: SignedInVisit,
  name: unknown,
): Promise<SavedStyle | undefined> {
  return typeof name === 'string' && name !== '' ? styleOfVersion(await styles.find(user.accountId, name)) : undefined;
}

function checked(fields: Readonly<Record<string, unknown>>): SavedStyle {
  const faults: FieldFault[] = [];
  const style = checkSavedStyle(fields, faults);
  const [first] = faults;
  if (first !== undefined) throw new AppError('invalid_fields', first.detail, { faults });
  return style;
}

function styleOfVersion(version: StyleVersion): SavedStyle {
  return styleToJson(version).style;
}

function nameIn({ request }: SignedInVisit): string {
  return must((request.params as { name?: string }).name, 'the name in the path');
}

function listBody(site: Site, list: readonly StyleVersion[]): Html {
  const about = html`<p>A style has your font, colors and logo under one name. Use it as the <code>style</code> of a request. <a href="/docs/brand">How brands work</a></p>`;
  if (list.length === 0)
    return html`${about}<p>No styles yet. Create one, then send <code>style=acme</code> with your captions.</p>`;
  const cards = list.map(
    ({ name, version, updatedAt }) => html`<li><a href="${STYLES_PATH}/${name}">
${picture(site, `${STYLES_PATH}/${name}/preview.png?v=${version}`, 'lazy')}
<span class="style-name">${name}</span></a>
<span class="small">Version ${version}, ${time(updatedAt)}</span></li>`,
  );
  return html`${about}<ul class="style-cards">${cards}</ul>`;
}

/** A sample photo with the caption of the style over it. */
function picture(site: Site, preview: string, loading: 'lazy' | 'eager'): Html {
  const { width, height } = PREVIEW_SIZE;
  return html`<span class="style-picture"><img src="${site.assets.url(PHOTO)}" width="${width}" height="${height}" loading="${loading}" alt=""><img class="over" src="${preview}" width="${width}" height="${height}" loading="${loading}" alt="Preview of the style" data-preview></span>`;
}

function editorBody(site: Site, visit: SignedInVisit, { saved, name, typed, faults }: Editor, own: OwnFiles): Html {
  const preview = saved ? `${STYLES_PATH}/${saved.name}/preview.png?v=${saved.version}` : PREVIEW_PATH;
  const nameInput = field({
    name: 'name',
    label: 'Name',
    value: name,
    autocomplete: 'off',
    hint: 'Lowercase letters, digits and hyphens, such as acme.',
    fault: faults.find(({ pointer }) => pointer === '#/name')?.detail,
    maxLength: 40,
  });
  const content = html`${saved ? html`<input type="hidden" name="saved" value="${saved.name}">` : nameInput}
${styleFields(typed, faults, own)}
<p class="actions"><button class="button" type="submit">Save style</button></p>`;
  return html`<p><a href="${BRAND_PATH}">All styles</a></p>
${saved && html`<p>Send <code>style=${saved.name}</code> for the latest version, or <code>style=${saved.name}@${saved.version}</code> for this one.</p>`}
<div class="style-editor" data-style-editor="${PREVIEW_PATH}">
${form(visit, saved ? `${STYLES_PATH}/${saved.name}` : NEW_PATH, content, 'stacked')}
<div class="style-preview">${picture(site, preview, 'eager')}<p class="small" role="status" data-preview-note></p></div>
</div>
${saved && deleteSection(visit, saved)}`;
}

function deleteSection(visit: SignedInVisit, { name }: StyleVersion): Html {
  return html`<section aria-labelledby="delete">
<h2 id="delete">Delete style</h2>
<details class="twice"><summary>Delete this style</summary>
<p>Requests with <code>style=${name}</code> will fail. Renders that were accepted keep their look.</p>
${form(visit, `${STYLES_PATH}/${name}/delete`, html`<button class="button danger" type="submit">Delete style</button>`)}
</details>
</section>`;
}
