// The API as an OpenAPI 3.1 document, built from the tables that the server itself uses. `GET /openapi.json` returns it, and
// `npm run generate` writes it to docs/openapi.json.

import { RESPONSE_SCHEMAS } from '../../api/response-schemas.ts';
import { CUE_SCHEMA } from '../../../engine/caption/request-fields.ts';
import type { Json } from '../../../shared/json-schema.ts';
import type { OperationGroup } from '../operation.ts';
import { FONT_OPERATIONS } from '../font-routes.ts';
import { LAYOUT_OPERATIONS, LAYOUT_REQUEST } from '../layout-route.ts';
import { LOGO_OPERATIONS } from '../logo-routes.ts';
import { OVERLAY_OPERATIONS } from '../overlay/overlay-route.ts';
import { BATCH_OPERATIONS, BATCH_REQUEST } from '../renders/batch-routes.ts';
import { RENDER_OPERATIONS } from '../renders/render-routes.ts';
import { RESULT_OPERATIONS } from '../renders/result-route.ts';
import { SERVICE_OPERATIONS } from '../service-routes.ts';
import { STYLE_OPERATIONS } from '../style-routes.ts';
import { USAGE_OPERATIONS } from '../usage-route.ts';
import { WEBHOOK_OPERATIONS } from '../webhook-routes.ts';
import {
  FORM_SCHEMA,
  LOGO_FORM,
  OVERLAY_SCHEMA,
  REQUEST_SCHEMA,
  SAVED_STYLE_SCHEMA,
  STYLE_SCHEMA,
} from './openapi-form.ts';
import { describePaths } from './openapi-paths.ts';
import { WEBHOOK_REQUESTS, webhooksSection } from './openapi-webhooks.ts';
import { HEADERS } from './response-headers.ts';

/** Every operation of the API, in the order the reference lists them. */
const OPERATION_GROUPS: readonly OperationGroup[] = [
  OVERLAY_OPERATIONS,
  LAYOUT_OPERATIONS,
  USAGE_OPERATIONS,
  RENDER_OPERATIONS,
  RESULT_OPERATIONS,
  BATCH_OPERATIONS,
  LOGO_OPERATIONS,
  STYLE_OPERATIONS,
  FONT_OPERATIONS,
  WEBHOOK_OPERATIONS,
  SERVICE_OPERATIONS,
];

const SECURITY_SCHEMES: Json = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'Your API key. Live keys start with `sb_live_`, test keys with `sb_test_`.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'Your API key as a bearer token. It counts only without `x-api-key`.',
  },
};

const DESCRIPTION =
  '`POST /v1/overlay` renders; the response body is the finished file. `POST /v1/layout` shows where captions would go, ' +
  'and `GET /v1/usage` what the account has used. Both are free.';

export function openApiDocument(version: string): Json {
  const { paths, responses } = describePaths(OPERATION_GROUPS);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Storybar',
      version,
      summary: 'Story-style captions for photos and videos.',
      description: DESCRIPTION,
      contact: { name: 'The operator of this server' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'Rendering', description: 'Captions on images and videos.' },
      { name: 'Stored renders', description: 'Asynchronous renders, links to results, and batches.' },
      { name: 'Brand', description: 'Styles, logos and fonts that your account saved.' },
      { name: 'Webhooks', description: 'Signed requests to your server when a stored render ends.' },
      { name: 'Account', description: 'Plan, credits and usage.' },
      { name: 'Service', description: 'Checks for monitoring and load balancers.' },
    ],
    security: [{ apiKey: [] }, { bearer: [] }],
    paths,
    webhooks: webhooksSection(),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: {
        OverlayForm: FORM_SCHEMA,
        OverlayRequest: REQUEST_SCHEMA,
        Overlay: OVERLAY_SCHEMA,
        Style: STYLE_SCHEMA,
        LogoForm: LOGO_FORM,
        SavedStyleRequest: SAVED_STYLE_SCHEMA,
        Cue: CUE_SCHEMA,
        LayoutRequest: LAYOUT_REQUEST,
        BatchRequest: BATCH_REQUEST,
        ...WEBHOOK_REQUESTS,
        ...RESPONSE_SCHEMAS,
      },
      responses,
      headers: HEADERS,
    },
  };
}
