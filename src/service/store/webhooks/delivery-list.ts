// Lists of webhook deliveries. An account can have many more than a page shows, so filters read them in small steps.

import { compare, listInSteps, type SqlCondition } from '../bounded/steps.ts';
import { type Engine, first } from '../engine.ts';
import { toDelivery } from './webhook-rows.ts';
import type { DeliveryPage, WebhookDelivery } from './webhook.ts';

const ORDER = ['d.created_at', 'd.id'];
const IS_SENDABLE = `(d.endpoint_id is null
  or exists (select 1 from webhook_endpoints e where e.id = d.endpoint_id and e.state = 'enabled'))`;

/** Newest first. */
export async function listDeliveries(
  engine: Engine,
  accountId: string,
  { limit, after, endpointId, type, status, isSendable = false }: DeliveryPage,
): Promise<WebhookDelivery[]> {
  const sql = 'select created_at, id from webhook_deliveries where id = :after';
  const last = after === undefined ? undefined : await first(engine, sql, { after });
  if (after !== undefined && last === undefined) return [];
  const conditions = (wanted: readonly (SqlCondition | false)[]): SqlCondition[] =>
    wanted.filter((condition) => condition !== false);
  const rows = await listInSteps(engine, {
    columns: 'd.*, m.type',
    table: 'webhook_deliveries d join webhook_messages m on m.id = d.message_id',
    order: ORDER,
    within: conditions([
      ['d.account_id = :accountId', { accountId }],
      endpointId !== undefined && ['d.endpoint_id = :endpointId', { endpointId }],
    ]),
    before: last && compare(ORDER, '<', last),
    filter: conditions([
      type !== undefined && ['m.type = :type', { type }],
      status !== undefined && ['d.status = :status', { status }],
      isSendable && [IS_SENDABLE, {}],
    ]),
    count: limit,
  });
  return rows.map(toDelivery);
}
