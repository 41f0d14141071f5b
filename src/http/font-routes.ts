// The API of fonts. A worker writes an uploaded font anew; only that is stored, and the server itself never reads either file.

import { stat } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../account/caller.ts';
import type { ResponseOf } from '../api/response-schemas.ts';
import { FONTS_PATH, fontToJson } from '../brand/saved-fonts.ts';
import type { SavedFiles } from '../brand/saved-files.ts';
import { type Renderer, withLease } from '../dispatch/renderer.ts';
import { AppError } from '../errors.ts';
import type { FailedDecodes } from '../limits/failed-decodes.ts';
import type { FontDescription } from '../media/font/font-description.ts';
import { isFontFile, MAX_FONT_BYTES } from '../media/font/font-limits.ts';
import { rethrowAsStorageError } from '../media/work-area.ts';
import { must } from '../primitives/must.ts';
import type { BrandFile } from '../store/brand/brand-files.ts';
import type { Admission } from './access/admission.ts';
import { assertServerOrMarketplace, type BrandChanges } from './access/server-key.ts';
import {
  type BrandUpload,
  type BrandUploadDependencies,
  type ReceivedBrandFile,
  receiveBrandFile,
} from './brand-upload.ts';
import type { KeyRoute } from './key-route.ts';
import { idOf } from './renders/render-routes.ts';
import type { RouteGroup } from './route-group.ts';

export interface FontUploads extends BrandUploadDependencies {
  readonly files: Pick<SavedFiles, 'assertRoom' | 'add' | 'list' | 'find' | 'remove'>;
  readonly failedDecodes: FailedDecodes;
  readonly renderer: Pick<Renderer, 'open'>;
}

export interface FontRouteDependencies extends FontUploads, BrandChanges {
  readonly keyRoute: KeyRoute;
  readonly admission: Admission;
}

const CHANGE = 'upload or delete fonts';
const LICENSE_FIELD = 'license_confirmed';
const RULES = {
  kind: 'font',
  maxBytes: MAX_FONT_BYTES,
  accepts: isFontFile,
  confirmation: {
    field: LICENSE_FIELD,
    detail: `Send ${LICENSE_FIELD}=true to confirm that the license of the font allows you to use it here.`,
  },
} as const;

export function fontRoutes(dependencies: FontRouteDependencies): RouteGroup {
  const { keyRoute, files } = dependencies;
  return {
    register: (app) => {
      app.get(
        FONTS_PATH,
        keyRoute(async ({ accountId }) => ({ fonts: (await files.list(accountId, 'font')).map(fontToJson) })),
      );
      app.get(
        `${FONTS_PATH}/:id`,
        keyRoute(async ({ accountId }, request) => fontToJson(await files.find(accountId, 'font', idOf(request)))),
      );
      app.post(
        FONTS_PATH,
        keyRoute(async (caller, request, reply) => await upload(dependencies, caller, request, reply)),
      );
      app.delete(
        `${FONTS_PATH}/:id`,
        keyRoute(async (caller, request, reply) => {
          const actor = await assertServerOrMarketplace(dependencies, caller, CHANGE);
          await files.remove(caller.accountId, 'font', idOf(request), actor);
          reply.code(204);
          return undefined;
        }),
      );
    },
  };
}

async function upload(
  dependencies: FontRouteDependencies,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ResponseOf<'Font'>> {
  const { admission } = dependencies;
  const actor = await assertServerOrMarketplace(dependencies, caller, CHANGE);
  await admission.countRequest(caller, (headers) => {
    reply.headers(headers);
  });
  const font = await receiveFont(dependencies, { caller, actor, request, reply });
  reply.code(201).header('location', `${FONTS_PATH}/${font.id}`);
  return fontToJson(font);
}

export async function receiveFont(dependencies: FontUploads, incoming: BrandUpload): Promise<BrandFile> {
  const { files } = dependencies;
  const { caller, actor, request } = incoming;
  await files.assertRoom(caller, 'font');
  return await receiveBrandFile(dependencies, incoming, RULES, async (received) => {
    const written = await rewritten(dependencies, { ...received, caller, renderId: request.id });
    return await files.add(caller, { kind: 'font', ...written }, actor, received.signal);
  });
}

interface FontWork extends ReceivedBrandFile {
  readonly caller: Caller;
  readonly renderId: string;
}

interface WrittenFont {
  readonly path: string;
  readonly bytes: number;
  readonly facts: Readonly<Record<string, unknown>>;
}

async function rewritten(
  { renderer, failedDecodes, deadlineMs }: FontUploads,
  { caller, file, directory, signal, renderId }: FontWork,
): Promise<WrittenFont> {
  if (!file.isAccepted) {
    const detail = 'A font must be a TTF, OTF or WOFF2 file. Its content matches none of them.';
    throw new AppError('unsupported_asset', detail);
  }
  const request = { account: caller.accountId, class: 'interactive', budgetMs: deadlineMs, signal, renderId } as const;
  const path = directory.file('font');
  const job = { recipe: { kind: 'font' }, asset: undefined, attachment: file.path, output: path } as const;
  try {
    const rendered = await withLease(renderer, request, async (lease) => {
      lease.choose('image');
      return await lease.render(job);
    });
    const facts: FontDescription = must(rendered.font, 'the facts of the font');
    const { size: bytes } = await stat(path).catch(rethrowAsStorageError);
    return { path, bytes, facts: { ...facts } };
  } catch (error) {
    await failedDecodes.count(caller, error);
    throw error;
  }
}
