// `webhook_url` gets a webhook when the render of this request ends.

import { parseUrlField, type UrlFault } from './asset-url.ts';
import type { FieldReader } from './field-reader.ts';

/** A blank field counts as absent. `checkUrl` returns the fault of a well-formed URL, if any. */
export function parseWebhookUrl(
  fields: FieldReader,
  checkUrl: (url: URL, purpose: 'webhook') => UrlFault | undefined,
): URL | undefined {
  const text = fields.text('webhook_url');
  if (text === undefined || text.trim() === '') return undefined;
  const url = parseUrlField('webhook_url', text);
  const fault = url instanceof URL ? checkUrl(url, 'webhook') : url;
  if (fault) fields.add('webhook_url', fault.code, fault.detail);
  return url instanceof URL ? url : undefined;
}
