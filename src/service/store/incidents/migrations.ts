// The tables of incidents.

import type { Migration } from '../migration.ts';

export const INCIDENTS: Migration = {
  common: `
create table incidents (
  id text primary key,
  title text not null,
  impact text not null check (impact in ('maintenance', 'degraded', 'outage')),
  started_at text not null,
  ended_at text
) strict;
create index incidents_by_start on incidents (started_at, id);
create index incidents_open on incidents (started_at, id) where ended_at is null;
create table incident_updates (
  incident_id text not null references incidents (id),
  number integer not null,
  at text not null,
  body text not null,
  primary key (incident_id, number)
) strict;
`,
};
