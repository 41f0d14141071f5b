// The API of logos. Every key may list and use them. To change them, it takes a key that stays on a server, or a
// marketplace, whose callers have no other keys.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../account/caller.ts';
import type { ResponseOf } from '../api/response-schemas.ts';
import { LOGOS_PATH, logoToJson, type SavedLogos } from '../brand/saved-logos.ts';
import { MAX_LOGO_BYTES } from '../caption/logo.ts';
import type { BrandFile } from '../store/brand/brand-files.ts';
import type { Admission } from './access/admission.ts';
import { assertServerOrMarketplace, type BrandChanges } from './access/server-key.ts';
import { type BrandUpload, type BrandUploadDependencies, receiveBrandFile } from './brand-upload.ts';
import type { KeyRoute } from './key-route.ts';
import { idOf } from './renders/render-routes.ts';
import type { RouteGroup } from './route-group.ts';

export interface LogoRouteDependencies extends LogoUploads, BrandChanges {
  readonly keyRoute: KeyRoute;
  readonly admission: Admission;
}

const CHANGE = 'upload or delete logos';

export function logoRoutes(dependencies: LogoRouteDependencies): RouteGroup {
  const { keyRoute, logos } = dependencies;
  return {
    register: (app) => {
      app.get(
        LOGOS_PATH,
        keyRoute(async ({ accountId }) => ({ logos: (await logos.list(accountId)).map(logoToJson) })),
      );
      app.get(
        `${LOGOS_PATH}/:id`,
        keyRoute(async ({ accountId }, request) => logoToJson(await logos.find(accountId, idOf(request)))),
      );
      app.post(
        LOGOS_PATH,
        keyRoute(async (caller, request, reply) => await upload(dependencies, caller, request, reply)),
      );
      app.delete(
        `${LOGOS_PATH}/:id`,
        keyRoute(async (caller, request, reply) => {
          const actor = await assertServerOrMarketplace(dependencies, caller, CHANGE);
          await logos.remove(caller.accountId, idOf(request), actor);
          reply.code(204);
          return undefined;
        }),
      );
    },
  };
}

async function upload(
  dependencies: LogoRouteDependencies,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ResponseOf<'Logo'>> {
  const { admission } = dependencies;
  const actor = await assertServerOrMarketplace(dependencies, caller, CHANGE);
  await admission.countRequest(caller, (headers) => {
    reply.headers(headers);
  });
  const logo = await receiveLogo(dependencies, { caller, actor, request, reply });
  reply.code(201).header('location', `${LOGOS_PATH}/${logo.id}`);
  return logoToJson(logo);
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
