// The API of saved styles. Every key may list and use them. To change them, it takes a key that stays on a server, or a
// marketplace, whose callers have no other keys.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResponseOf } from '../api/response-schemas.ts';
import { STYLES_PATH, type SavedStyles, styleToJson } from '../brand/saved-styles.ts';
import type { Caller } from '../account/caller.ts';
import type { Admission } from './access/admission.ts';
import { assertServerOrMarketplace, type BrandChanges } from './access/server-key.ts';
import type { KeyRoute } from './key-route.ts';
import { receiveSmall } from './overlay/receive.ts';
import type { RouteGroup } from './route-group.ts';

const CHANGE = 'save or delete styles';

export interface StyleRouteDependencies extends BrandChanges {
  readonly keyRoute: KeyRoute;
  readonly admission: Admission;
  readonly styles: SavedStyles;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

export function styleRoutes(dependencies: StyleRouteDependencies): RouteGroup {
  const { keyRoute, styles } = dependencies;
  return {
    register: (app) => {
      app.get(
        STYLES_PATH,
        keyRoute(async ({ accountId }) => ({ styles: (await styles.list(accountId)).map(styleToJson) })),
      );
      app.get(
        `${STYLES_PATH}/:name`,
        keyRoute(async ({ accountId }, request) => styleToJson(await styles.find(accountId, nameOf(request)))),
      );
      app.put(
        `${STYLES_PATH}/:name`,
        keyRoute(async (caller, request, reply) => await put(dependencies, caller, request, reply)),
      );
      app.delete(
        `${STYLES_PATH}/:name`,
        keyRoute(async (caller, request, reply) => {
          const actor = await assertServerOrMarketplace(dependencies, caller, CHANGE);
          await styles.remove(caller.accountId, nameOf(request), actor);
          reply.code(204);
          return undefined;
        }),
      );
    },
  };
}

async function put(
  dependencies: StyleRouteDependencies,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ResponseOf<'SavedStyle'>> {
  const { styles, admission, shutdown } = dependencies;
  const actor = await assertServerOrMarketplace(dependencies, caller, CHANGE);
  await admission.countRequest(caller, (headers) => {
    reply.headers(headers);
  });
  const { fields } = await receiveSmall(request, reply, { shutdown, advice: 'Send the style as application/json.' });
  const style = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  return styleToJson(await styles.put(caller, nameOf(request), style, actor));
}

function nameOf({ params }: FastifyRequest): string {
  const { name } = params as { readonly name?: unknown };
  return typeof name === 'string' ? name : '';
}
