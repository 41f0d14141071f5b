// The API of logos. Every key may list and use them. To change them, it takes a key that stays on a server, or a
// marketplace, whose callers have no other keys.

import { ref } from '../api/schema-parts.ts';
import { LOGOS_PATH, logoToJson, type SavedLogos } from '../brand/saved-logos.ts';
import { MAX_LOGO_BYTES } from '../../engine/caption/logo.ts';
import type { BrandFile } from '../store/brand/brand-files.ts';
import { type BrandUpload, type BrandUploadDependencies, receiveBrandFile } from './brand-upload.ts';
import type { KeyRoutes } from './key-routes.ts';
import { DELETED, describeOperations, inPath, json } from './operation.ts';
import type { RouteGroup } from './route-group.ts';

const ID = inPath('id', 'Of the logo.', { type: 'string' });

export const LOGO_OPERATIONS = describeOperations(
  { tag: 'Brand', change: 'upload or delete logos' },
  {
    listLogos: {
      route: `GET ${LOGOS_PATH}`,
      summary: 'List logos',
      description: 'List logos, oldest first.',
      success: { 200: json('The logos.', 'LogoList') },
    },
    uploadLogo: {
      route: `POST ${LOGOS_PATH}`,
      summary: 'Upload a logo',
      description:
        'Upload a PNG, WebP or JPEG of up to 2 MB and 4 megapixels. It is stored anew as a PNG of up to 1 MB: the first frame, ' +
        'in sRGB, without metadata.',
      access: 'server key or marketplace',
      rate: 'render',
      body: { required: true, content: { 'multipart/form-data': { schema: ref('LogoForm') } } },
      success: { 201: json('The logo.', 'Logo', ['location']) },
      stores: 'brand file',
      errors: [
        'too_many_logos',
        'asset_too_large',
        'asset_too_many_pixels',
        'asset_dimensions_too_large',
        'unsupported_asset',
        'asset_undecodable',
        'overloaded',
        'out_of_memory',
        'renderer_unavailable',
        'deadline_exceeded',
      ],
    },
    getLogo: {
      route: `GET ${LOGOS_PATH}/{id}`,
      summary: 'Get a logo',
      description: 'Get the size of a logo.',
      parameters: [ID],
      success: { 200: json('The logo.', 'Logo') },
      errors: ['logo_not_found'],
    },
    deleteLogo: {
      route: `DELETE ${LOGOS_PATH}/{id}`,
      summary: 'Delete a logo',
      description: 'Delete a logo. Renders that were accepted keep it.',
      access: 'server key or marketplace',
      parameters: [ID],
      success: DELETED,
      errors: ['logo_not_found'],
    },
  },
);

export function logoRoutes(keyRoutes: KeyRoutes, uploads: LogoUploads): RouteGroup {
  const { logos } = uploads;
  return keyRoutes(LOGO_OPERATIONS, {
    listLogos: async ({ accountId }) => ({ logos: (await logos.list(accountId)).map(logoToJson) }),
    uploadLogo: async (call) => {
      const logo = await receiveLogo(uploads, call);
      call.reply.header('location', `${LOGOS_PATH}/${logo.id}`);
      return logoToJson(logo);
    },
    getLogo: async ({ accountId, id }) => logoToJson(await logos.find(accountId, id)),
    deleteLogo: async ({ accountId, id, actor }) => await logos.remove(accountId, id, actor),
  });
}

export interface LogoUploads extends BrandUploadDependencies {
  readonly logos: SavedLogos;
}

export async function receiveLogo(dependencies: LogoUploads, incoming: BrandUpload): Promise<BrandFile> {
  const { logos } = dependencies;
  const { caller, actor, request } = incoming;
  await logos.assertRoom(caller);
  const rules = { kind: 'logo', maxBytes: MAX_LOGO_BYTES } as const;
  return await receiveBrandFile(
    dependencies,
    incoming,
    rules,
    async ({ file, signal }) => await logos.add({ caller, file, actor, requestId: request.id, signal }),
  );
}
