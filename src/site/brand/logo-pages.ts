// The page of logos. A script uploads the file, because forms of the dashboard have no files.

import { logoSize } from '../../service/brand/saved-logos.ts';
import { MAX_LOGO_BYTES } from '../../engine/caption/logo.ts';
import { type LogoUploads, receiveLogo } from '../../service/http/logo-routes.ts';
import type { BrandFile } from '../../service/store/brand/brand-files.ts';
import { count, time } from '../account/fields.ts';
import { form, PRIVATE_HEADERS, seeOther, sendPrivate } from '../account/frame.ts';
import { idOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { BRAND_VIEWS, LOGOS_PAGE } from './style-pages.ts';
import { addUpload, type UploadDependencies } from './upload-action.ts';

export interface LogoPagesDependencies extends LogoUploads, UploadDependencies {
  readonly site: Site;
}

const UPLOAD_PATH = `${LOGOS_PAGE}/upload`;

export function addLogoPages(routes: SignedInRoutes, dependencies: LogoPagesDependencies): void {
  const { site, logos } = dependencies;
  routes.page({ path: LOGOS_PAGE, permission: 'develop' }, async (visit) => {
    const body = logosBody(visit, await logos.list(visit.user.accountId));
    return await sendPrivate(site, visit, {
      title: 'Brand',

      views: BRAND_VIEWS,
      body,
      modules: ['brand.js'],
    });
  });
  routes.page({ path: `${LOGOS_PAGE}/:id/image.png`, permission: 'develop' }, async (visit) => {
    const png = await logos.read(visit.user.accountId, idOf(visit));
    return visit.reply.headers({ ...PRIVATE_HEADERS, 'content-type': 'image/png' }).send(png);
  });
  routes.action({ path: `${LOGOS_PAGE}/:id/delete`, permission: 'develop' }, async (visit) => {
    await logos.remove(visit.user.accountId, idOf(visit), `user:${visit.user.id}`);
    return seeOther(visit, `${LOGOS_PAGE}?done=logo-deleted`);
  });
  addUpload(routes, UPLOAD_PATH, dependencies, async (upload) => await receiveLogo(dependencies, upload));
}

function logosBody(visit: SignedInVisit, logos: readonly BrandFile[]): Html {
  const items = logos.map((logo) => {
    const { width, height } = logoSize(logo);
    return html`<li>
<span class="logo-picture"><img src="${LOGOS_PAGE}/${logo.id}/image.png" width="${width}" height="${height}" loading="lazy" alt="Logo, ${width} by ${height} pixels"></span>
<code class="logo-id">${logo.id}</code>
<span class="small">${width} × ${height}, ${count(logo.bytes)} bytes, ${time(logo.createdAt)}</span>
<details class="twice"><summary>Delete</summary>
<p>Requests that use this logo will fail, also through a style.</p>
${form(visit, `${LOGOS_PAGE}/${logo.id}/delete`, html`<button class="button danger" type="submit">Delete logo</button>`)}
</details></li>`;
  });
  return html`<p>Upload a logo, then choose it in a style. It stays inside the safe area and moves out of the way of captions. <a href="/docs/brand">How brands work</a></p>
${logos.length === 0 ? html`<p>No logos yet.</p>` : html`<ul class="logo-cards">${items}</ul>`}
<section aria-labelledby="upload"><h2 id="upload">Upload a logo</h2>
<form class="stacked" data-upload="${UPLOAD_PATH}" data-done="${LOGOS_PAGE}?done=logo-added">
<input type="hidden" name="token" value="${visit.token}">
<div class="field"><label for="logo-file">File</label>
<input id="logo-file" name="asset" type="file" accept="image/png,image/webp,image/jpeg" required aria-describedby="logo-file-hint">
<p class="small" id="logo-file-hint">PNG, WebP or JPEG, up to ${MAX_LOGO_BYTES / 1_000_000} MB and 4 megapixels. A PNG with transparency looks best.</p></div>
<p class="problem" role="alert" data-upload-problem hidden></p>
<p class="actions"><button class="button" type="submit">Upload logo</button></p>
</form></section>`;
}
