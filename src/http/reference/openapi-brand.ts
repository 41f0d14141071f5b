// Saved styles and logos in the OpenAPI document.

import { ref } from '../../api/schema-parts.ts';
import { STYLE_NAME_PATTERN } from '../../caption/saved-style.ts';
import type { Json } from '../../primitives/json-schema.ts';
import { BODY_ERRORS, json, jsonBody, noContent, operation, type Paths } from './openapi-parts.ts';

const TAG = 'Brand';
const WRITING = 'Needs a live key without allowed origins, or a marketplace.';

function nameParameter(description: string, schema: Json): Json {
  return { name: 'name', in: 'path', required: true, description, schema };
}

const LOGO_ID: Json = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Of the logo.',
  schema: { type: 'string' },
};

const NAME = nameParameter('Lowercase letters, digits and hyphens.', { type: 'string', pattern: STYLE_NAME_PATTERN });

export function brandPaths(): Paths {
  return {
    ...logoPaths(),
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

const UPLOAD_ERRORS = [
  ...BODY_ERRORS,
  'server_key_required',
  'brand_files_disabled',
  'too_many_logos',
  'stored_bytes_exceeded',
  'storage_full',
  'too_many_failures',
  'too_many_renders',
  'asset_too_large',
  'asset_too_many_pixels',
  'asset_dimensions_too_large',
  'unsupported_asset',
  'asset_undecodable',
  'overloaded',
  'out_of_memory',
  'renderer_unavailable',
  'deadline_exceeded',
] as const;

function logoPaths(): Paths {
  return {
    '/v1/logos': {
      get: operation({
        id: 'listLogos',
        summary: 'List logos',
        description: 'List logos, oldest first.',
        tag: TAG,
        success: { '200': json('The logos.', 'LogoList') },
        errors: [],
        isPage: true,
      }),
      post: operation({
        id: 'uploadLogo',
        summary: 'Upload a logo',
        description:
          'Upload a PNG, WebP or JPEG of up to 2 MB and 4 megapixels. It is stored anew as a PNG of up to 1 MB: the first frame, ' +
          `in sRGB, without metadata. ${WRITING}`,
        tag: TAG,
        body: { required: true, content: { 'multipart/form-data': { schema: ref('LogoForm') } } },
        success: { '201': json('The logo.', 'Logo', ['location']) },
        errors: UPLOAD_ERRORS,
      }),
    },
    '/v1/logos/{id}': {
      get: operation({
        id: 'getLogo',
        summary: 'Get a logo',
        description: 'Get the size of a logo.',
        tag: TAG,
        parameters: [LOGO_ID],
        success: { '200': json('The logo.', 'Logo') },
        errors: ['logo_not_found', 'not_found'],
        isPage: true,
      }),
      delete: operation({
        id: 'deleteLogo',
        summary: 'Delete a logo',
        description: `Delete a logo. Renders that were accepted keep it. ${WRITING}`,
        tag: TAG,
        parameters: [LOGO_ID],
        success: { '204': noContent('Deleted.') },
        errors: ['server_key_required', 'logo_not_found', 'not_found', 'unsupported_content_type'],
      }),
    },
  };
}
