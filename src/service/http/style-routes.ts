// The API of saved styles. Every key may list and use them. To change them, it takes a key that stays on a server, or a
// marketplace, whose callers have no other keys.

import { STYLES_PATH, type SavedStyles, styleToJson } from '../brand/saved-styles.ts';
import { STYLE_NAME_PATTERN } from '../../engine/caption/saved-style.ts';
import type { KeyRoutes } from './key-routes.ts';
import { DELETED, describeOperations, inPath, json, jsonBody } from './operation.ts';
import { receiveSmall } from './overlay/receive.ts';
import type { RouteGroup } from './route-group.ts';

export interface StyleRouteDependencies {
  readonly styles: SavedStyles;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

const NAME = inPath('name', 'Lowercase letters, digits and hyphens.', { type: 'string', pattern: STYLE_NAME_PATTERN });

export const STYLE_OPERATIONS = describeOperations(
  { tag: 'Brand', change: 'save or delete styles' },
  {
    listStyles: {
      route: `GET ${STYLES_PATH}`,
      summary: 'List saved styles',
      description: 'List saved styles by name, each in its latest version.',
      success: { 200: json('The styles.', 'SavedStyleList') },
    },
    getStyle: {
      route: `GET ${STYLES_PATH}/{name}`,
      summary: 'Get a saved style',
      description: 'Get the latest version of a style, or the one after `@`.',
      parameters: [inPath('name', 'Such as `acme` or `acme@3`.', { type: 'string' })],
      success: { 200: json('The style.', 'SavedStyle') },
      errors: ['style_not_found'],
    },
    saveStyle: {
      route: `PUT ${STYLES_PATH}/{name}`,
      summary: 'Save a style',
      description: "Save a style under a name. A change makes a new version; equal styles don't.",
      access: 'server key or marketplace',
      rate: 'render',
      parameters: [NAME],
      body: jsonBody('SavedStyleRequest'),
      success: { 200: json('The style with its version.', 'SavedStyle') },
      errors: ['too_many_styles'],
    },
    deleteStyle: {
      route: `DELETE ${STYLES_PATH}/{name}`,
      summary: 'Delete a saved style',
      description: 'Delete a style with all versions. Renders that were accepted keep it.',
      access: 'server key or marketplace',
      parameters: [NAME],
      success: DELETED,
      errors: ['style_not_found'],
    },
  },
);

export function styleRoutes(keyRoutes: KeyRoutes, { styles, shutdown }: StyleRouteDependencies): RouteGroup {
  return keyRoutes(STYLE_OPERATIONS, {
    listStyles: async ({ accountId }) => ({ styles: (await styles.list(accountId)).map(styleToJson) }),
    getStyle: async ({ accountId, id: name }) => styleToJson(await styles.find(accountId, name)),
    saveStyle: async ({ caller, id: name, actor, request, reply }) => {
      const advice = 'Send the style as application/json.';
      const { fields } = await receiveSmall(request, reply, { shutdown, advice });
      const style = Object.fromEntries(fields.map(({ name: key, value }) => [key, value]));
      return styleToJson(await styles.put(caller, name, style, actor));
    },
    deleteStyle: async ({ accountId, id: name, actor }) => await styles.remove(accountId, name, actor),
  });
}
