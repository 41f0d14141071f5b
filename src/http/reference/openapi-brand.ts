// Saved styles in the OpenAPI document.

import { STYLE_NAME_PATTERN } from '../../caption/saved-style.ts';
import type { Json } from '../../primitives/json-schema.ts';
import { BODY_ERRORS, json, jsonBody, noContent, operation, type Paths } from './openapi-parts.ts';

const TAG = 'Brand';
const WRITING = 'Needs a live key without allowed origins, or a marketplace.';

function nameParameter(description: string, schema: Json): Json {
  return { name: 'name', in: 'path', required: true, description, schema };
}

const NAME = nameParameter('Lowercase letters, digits and hyphens.', { type: 'string', pattern: STYLE_NAME_PATTERN });

export function brandPaths(): Paths {
  return {
    '/v1/styles': {
      get: operation({
        id: 'listStyles',
        summary: 'List saved styles',
        description: 'List saved styles by name, each in its latest version.',
        tag: TAG,
        success: { '200': json('The styles.', 'SavedStyleList') },
        errors: [],
        isPage: true,
      }),
    },
    '/v1/styles/{name}': {
      get: operation({
        id: 'getStyle',
        summary: 'Get a saved style',
        description: 'Get the latest version of a style, or the one after `@`.',
        tag: TAG,
        parameters: [nameParameter('Such as `acme` or `acme@3`.', { type: 'string' })],
        success: { '200': json('The style.', 'SavedStyle') },
        errors: ['style_not_found', 'not_found'],
        isPage: true,
      }),
      put: operation({
        id: 'saveStyle',
        summary: 'Save a style',
        description: `Save a style under a name. A change makes a new version; equal styles don't. ${WRITING}`,
        tag: TAG,
        parameters: [NAME],
        body: jsonBody('SavedStyleRequest', true),
        success: { '200': json('The style with its version.', 'SavedStyle') },
        errors: [...BODY_ERRORS, 'not_found', 'server_key_required', 'too_many_styles', 'too_many_failures'],
      }),
      delete: operation({
        id: 'deleteStyle',
        summary: 'Delete a saved style',
        description: `Delete a style with all versions. Renders that were accepted keep it. ${WRITING}`,
        tag: TAG,
        parameters: [NAME],
        success: { '204': noContent('Deleted.') },
        errors: ['server_key_required', 'style_not_found', 'not_found', 'unsupported_content_type'],
      }),
    },
  };
}
