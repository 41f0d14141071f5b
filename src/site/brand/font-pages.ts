// The page of fonts, with a specimen of each that the renderer draws.

import { fontToJson } from '../../service/brand/saved-fonts.ts';
import { type FontUploads, receiveFont } from '../../service/http/font-routes.ts';
import { MAX_FONT_BYTES } from '../../engine/media/font/font-limits.ts';
import type { BrandFile } from '../../service/store/brand/brand-files.ts';
import { count, time } from '../account/fields.ts';
import { form, PRIVATE_HEADERS, seeOther, sendPrivate } from '../account/frame.ts';
import { idOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { BRAND_VIEWS, FONTS_PAGE } from './style-pages.ts';
import { SPECIMEN_SIZE, type StylePreviews } from './style-preview.ts';
import { addUpload, type UploadDependencies } from './upload-action.ts';

export interface FontPagesDependencies extends FontUploads, UploadDependencies {
  readonly site: Site;
  readonly previews: StylePreviews;
}

const UPLOAD_PATH = `${FONTS_PAGE}/upload`;

export function addFontPages(routes: SignedInRoutes, dependencies: FontPagesDependencies): void {
  const { site, files, previews } = dependencies;
  routes.page({ path: FONTS_PAGE, permission: 'develop' }, async (visit) => {
    const body = fontsBody(visit, await files.list(visit.user.accountId, 'font'));
    return await sendPrivate(site, visit, {
      title: 'Brand',

      views: BRAND_VIEWS,
      body,
      modules: ['brand.js'],
    });
  });
  routes.page({ path: `${FONTS_PAGE}/:id/specimen.png`, permission: 'develop' }, async (visit) => {
    const { accountId } = visit.user;
    const font = await files.find(accountId, 'font', idOf(visit));
    const { family } = fontToJson(font);
    const png = await previews.draw(
      accountId,
      { preset: 'plain', font: font.id, size: 2 },
      { ...SPECIMEN_SIZE, text: family },
    );
    return visit.reply.headers({ ...PRIVATE_HEADERS, 'content-type': 'image/png' }).send(png);
  });
  routes.action({ path: `${FONTS_PAGE}/:id/delete`, permission: 'develop' }, async (visit) => {
    await files.remove(visit.user.accountId, 'font', idOf(visit), `user:${visit.user.id}`);
    return seeOther(visit, `${FONTS_PAGE}?done=font-deleted`);
  });
  addUpload(routes, UPLOAD_PATH, dependencies, async (upload) => await receiveFont(dependencies, upload));
}

function fontsBody(visit: SignedInVisit, fonts: readonly BrandFile[]): Html {
  const { width, height } = SPECIMEN_SIZE;
  const items = fonts.map((font) => {
    const { id, family, style, weights, characters, bytes, created_at: createdAt } = fontToJson(font);
    return html`<li>
<span class="logo-picture specimen"><img src="${FONTS_PAGE}/${id}/specimen.png" width="${width}" height="${height}" loading="lazy" alt="A caption in ${family}"></span>
<strong>${family} ${style}</strong>
<code class="logo-id">${id}</code>
<span class="small">${count(characters)} characters, ${weights.length === 1 ? 'weight' : 'weights'} ${weights.join(' and ')}, ${count(bytes)} bytes, ${time(createdAt)}</span>
<details class="twice"><summary>Delete</summary>
<p>Requests that use this font will fail, also through a style.</p>
${form(visit, `${FONTS_PAGE}/${id}/delete`, html`<button class="button danger" type="submit">Delete font</button>`)}
</details></li>`;
  });
  return html`<p>Upload a font, then choose it in a style. Characters that it lacks come from the fonts of the service. <a href="/docs/brand">How brands work</a></p>
${fonts.length === 0 ? html`<p>No fonts yet.</p>` : html`<ul class="logo-cards">${items}</ul>`}
<section aria-labelledby="upload"><h2 id="upload">Upload a font</h2>
<form class="stacked" data-upload="${UPLOAD_PATH}" data-done="${FONTS_PAGE}?done=font-added">
<input type="hidden" name="token" value="${visit.token}">
<div class="field"><label for="font-file">File</label>
<input id="font-file" name="asset" type="file" accept=".ttf,.otf,.woff2" required aria-describedby="font-file-hint">
<p class="small" id="font-file-hint">TTF, OTF or WOFF2, up to ${Math.floor(MAX_FONT_BYTES / 1_000_000)} MB.</p></div>
<label class="check"><input name="license_confirmed" type="checkbox" value="true" required> The license of the font allows me to use it here.</label>
<p class="problem" role="alert" data-upload-problem hidden></p>
<p class="actions"><button class="button" type="submit">Upload font</button></p>
</form></section>`;
}
