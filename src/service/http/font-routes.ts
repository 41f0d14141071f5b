// The API of fonts. A worker writes an uploaded font anew; only that is stored, and the server itself never reads either file.

import { stat } from 'node:fs/promises';
import type { Caller } from '../account/caller.ts';
import { FONTS_PATH, fontToJson } from '../brand/saved-fonts.ts';
import type { SavedFiles } from '../brand/saved-files.ts';
import { OWN_FONT_PATTERN } from '../../engine/caption/fonts.ts';
import { type Renderer, withLease } from '../dispatch/renderer.ts';
import { AppError } from '../../shared/errors.ts';
import type { FailedDecodes } from '../limits/failed-decodes.ts';
import type { FontDescription } from '../../engine/media/font/font-description.ts';
import { isFontFile, MAX_FONT_BYTES } from '../../engine/media/font/font-limits.ts';
import { rethrowAsStorageError } from '../../engine/media/work-area.ts';
import type { Json } from '../../shared/json-schema.ts';
import { must } from '../../shared/must.ts';
import type { BrandFile } from '../store/brand/brand-files.ts';
import {
  type BrandUpload,
  type BrandUploadDependencies,
  type ReceivedBrandFile,
  receiveBrandFile,
} from './brand-upload.ts';
import type { KeyRoutes } from './key-routes.ts';
import { DELETED, describeOperations, inPath, json } from './operation.ts';
import type { RouteGroup } from './route-group.ts';

export interface FontUploads extends BrandUploadDependencies {
  readonly files: Pick<SavedFiles, 'assertRoom' | 'add' | 'list' | 'find' | 'remove'>;
  readonly failedDecodes: FailedDecodes;
  readonly renderer: Pick<Renderer, 'open'>;
}

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

const ID = inPath('id', 'The id of the font.', { type: 'string', pattern: OWN_FONT_PATTERN });
const BODY: Json = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['asset', 'license_confirmed'],
        properties: {
          asset: { type: 'string', format: 'binary', description: 'TTF, OTF or WOFF2, up to 8 MB.' },
          license_confirmed: {
            type: 'boolean',
            const: true,
            description: 'Confirms that the license of the font allows you to use it here.',
          },
        },
        additionalProperties: false,
      },
    },
  },
};

export const FONT_OPERATIONS = describeOperations(
  { tag: 'Brand', change: 'upload or delete fonts' },
  {
    listFonts: {
      route: `GET ${FONTS_PATH}`,
      summary: 'List uploaded fonts',
      description: 'List the fonts that your account uploaded, oldest first.',
      success: { 200: json('The fonts.', 'FontList') },
    },
    uploadFont: {
      route: `POST ${FONTS_PATH}`,
      summary: 'Upload a font',
      description:
        'Upload a font for use as `style.font`. It is written anew: outlines and layout stay, everything else goes.',
      access: 'server key or marketplace',
      rate: 'render',
      body: BODY,
      success: { 201: json('The font.', 'Font', ['location']) },
      stores: 'brand file',
      errors: [
        'too_many_fonts',
        'asset_too_large',
        'unsupported_asset',
        'asset_undecodable',
        'overloaded',
        'renderer_unavailable',
        'out_of_memory',
        'deadline_exceeded',
      ],
    },
    getFont: {
      route: `GET ${FONTS_PATH}/{id}`,
      summary: 'Get an uploaded font',
      description: 'Get what there is to know about a font.',
      parameters: [ID],
      success: { 200: json('The font.', 'Font') },
      errors: ['font_not_found'],
    },
    deleteFont: {
      route: `DELETE ${FONTS_PATH}/{id}`,
      summary: 'Delete an uploaded font',
      description: 'Delete a font. Renders that were accepted keep it; later requests with its id fail.',
      access: 'server key or marketplace',
      parameters: [ID],
      success: DELETED,
      errors: ['font_not_found'],
    },
  },
);

export function fontRoutes(keyRoutes: KeyRoutes, uploads: FontUploads): RouteGroup {
  const { files } = uploads;
  return keyRoutes(FONT_OPERATIONS, {
    listFonts: async ({ accountId }) => ({ fonts: (await files.list(accountId, 'font')).map(fontToJson) }),
    uploadFont: async (call) => {
      const font = await receiveFont(uploads, call);
      call.reply.header('location', `${FONTS_PATH}/${font.id}`);
      return fontToJson(font);
    },
    getFont: async ({ accountId, id }) => fontToJson(await files.find(accountId, 'font', id)),
    deleteFont: async ({ accountId, id, actor }) => await files.remove(accountId, 'font', id, actor),
  });
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
