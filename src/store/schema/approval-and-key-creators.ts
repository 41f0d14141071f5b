// Accounts whose live keys work only after the operator approves them; those from before need no approval. The user who
// created a key, which the audit log knows for keys from before. And links that were sent to the address they are for, unlike
// those that an operator hands over.

import type { Migration } from '../migrations.ts';

export const APPROVAL_AND_KEY_CREATORS: Migration = {
  common: `
alter table accounts add column awaits_approval integer not null default 0 check (awaits_approval in (0, 1));
create index accounts_awaiting_approval on accounts (created_at, id) where awaits_approval = 1;
alter table api_keys add column created_by text;
update api_keys set created_by = (
  select substr(e.actor, 6) from audit e
  where e.account_id = api_keys.account_id and e.action = 'key.created' and e.subject = api_keys.id
    and e.actor like 'user:%'
);
alter table password_links add column is_mailed integer not null default 0 check (is_mailed in (0, 1));
`,
  isCompatible: true,
};
