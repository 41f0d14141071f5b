-- A database of version 0.2.0, made by its server and its commands.
pragma foreign_keys = off;
pragma user_version = 15;
BEGIN TRANSACTION;
CREATE TABLE accounts (
    id text primary key,
    name text not null,
    state text not null default 'active' check (state in ('active', 'inactive', 'suspended')),
    created_at text not null
  , deleted_at text) strict;
INSERT INTO "accounts" VALUES('0724fd67-9ae3-476a-9131-f7e5b83f219a','shop','active','2026-11-18T09:13:12.826Z',NULL);
INSERT INTO "accounts" VALUES('60156822-c285-4617-9d0e-0719128981df','eve@example.com','active','2026-11-18T09:14:12.255Z',NULL);
INSERT INTO "accounts" VALUES('242ba88d-5d2d-4f76-9588-0767eb669056','carl@example.com','active','2026-11-18T09:14:29.016Z',NULL);
CREATE TABLE api_keys (
    id text primary key,
    account_id text not null references accounts (id),
    name text not null,
    mode text not null check (mode in ('live', 'test')),
    state text not null default 'active' check (state in ('active', 'suspended', 'revoked')),
    hash text not null unique,
    prefix text not null,
    last_four text not null,
    created_at text not null,
    last_used_at text
  , expires_at text, allowed_origins text) strict;
INSERT INTO "api_keys" VALUES('e1486055-8a13-4e55-b1c6-3eb9640509c5','0724fd67-9ae3-476a-9131-f7e5b83f219a','shop','live','active','0fef6a3a70fec73bc5a705adb45f1b971714a50315f3ec2278335bb45b4cdc4e','sb_live_YCTZ','W7mp','2026-11-18T09:13:12.852Z','2026-11-18T09:14:31.051Z',NULL,'[]');
INSERT INTO "api_keys" VALUES('de15f32d-269a-41cf-8a84-26e53bf9d28f','0724fd67-9ae3-476a-9131-f7e5b83f219a','test','test','active','6ae7743217b75bbdc3ef8b477e30088aca573a4e593aa0ede14fd38f21b79358','sb_test_X4Pi','Hdt4','2026-11-18T09:13:27.946Z',NULL,NULL,'[]');
INSERT INTO "api_keys" VALUES('d338cd78-5f88-458e-8ae4-7084e49298e3','60156822-c285-4617-9d0e-0719128981df','First test key','test','active','b5c49d5260a538694cfca472812601e767ada5fba5a1c943e3a40501b05871d0','sb_test_QDum','A2J9','2026-11-18T09:14:12.350Z',NULL,NULL,'[]');
CREATE TABLE audit (
    seq integer primary key autoincrement,
    at text not null,
    actor text not null,
    action text not null,
    account_id text,
    subject text not null,
    details text not null
  ) strict;
INSERT INTO "audit" VALUES(1,'2026-11-18T09:13:12.826Z','cli:operator','account.created','0724fd67-9ae3-476a-9131-f7e5b83f219a','0724fd67-9ae3-476a-9131-f7e5b83f219a','{"name":"shop"}');
INSERT INTO "audit" VALUES(2,'2026-11-18T09:13:12.840Z','cli:operator','subscription.plan','0724fd67-9ae3-476a-9131-f7e5b83f219a','0724fd67-9ae3-476a-9131-f7e5b83f219a','{"from":null,"to":"pro","when":"now"}');
INSERT INTO "audit" VALUES(3,'2026-11-18T09:13:12.852Z','cli:operator','key.created','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','{"name":"shop","mode":"live","prefix":"sb_live_YCTZ","lastFour":"W7mp","allowedOrigins":[]}');
INSERT INTO "audit" VALUES(4,'2026-11-18T09:13:27.946Z','cli:operator','key.created','0724fd67-9ae3-476a-9131-f7e5b83f219a','de15f32d-269a-41cf-8a84-26e53bf9d28f','{"name":"test","mode":"test","prefix":"sb_test_X4Pi","lastFour":"Hdt4","allowedOrigins":[]}');
INSERT INTO "audit" VALUES(5,'2026-11-18T09:13:28.882Z','key:e1486055-8a13-4e55-b1c6-3eb9640509c5','webhook.created','0724fd67-9ae3-476a-9131-f7e5b83f219a','38d372cb-cdd2-4a48-bf77-c6555911d5ac','{"host":"example.com","events":[]}');
INSERT INTO "audit" VALUES(6,'2026-11-18T09:13:31.211Z','cli:operator','user.link','0724fd67-9ae3-476a-9131-f7e5b83f219a','new user','{"role":"member"}');
INSERT INTO "audit" VALUES(7,'2026-11-18T09:13:33.065Z','cli:operator','user.link',NULL,'new user','{"role":"member"}');
INSERT INTO "audit" VALUES(8,'2026-11-18T09:14:01.649Z','user:a5bf6cbe-b424-4efc-8506-9f40722f4ad4','user.signed_up','0724fd67-9ae3-476a-9131-f7e5b83f219a','a5bf6cbe-b424-4efc-8506-9f40722f4ad4','{"role":"member"}');
INSERT INTO "audit" VALUES(9,'2026-11-18T09:14:01.659Z','user:a5bf6cbe-b424-4efc-8506-9f40722f4ad4','user.signed_in','0724fd67-9ae3-476a-9131-f7e5b83f219a','a5bf6cbe-b424-4efc-8506-9f40722f4ad4','{}');
INSERT INTO "audit" VALUES(10,'2026-11-18T09:14:12.255Z','user:03520483-f33a-4d18-9acb-8a52966dc3e4','account.created','60156822-c285-4617-9d0e-0719128981df','60156822-c285-4617-9d0e-0719128981df','{"name":"eve@example.com"}');
INSERT INTO "audit" VALUES(11,'2026-11-18T09:14:12.255Z','user:03520483-f33a-4d18-9acb-8a52966dc3e4','user.signed_up','60156822-c285-4617-9d0e-0719128981df','03520483-f33a-4d18-9acb-8a52966dc3e4','{"role":"member"}');
INSERT INTO "audit" VALUES(12,'2026-11-18T09:14:12.258Z','user:03520483-f33a-4d18-9acb-8a52966dc3e4','user.signed_in','60156822-c285-4617-9d0e-0719128981df','03520483-f33a-4d18-9acb-8a52966dc3e4','{}');
INSERT INTO "audit" VALUES(13,'2026-11-18T09:14:12.346Z','account:60156822-c285-4617-9d0e-0719128981df','subscription.plan','60156822-c285-4617-9d0e-0719128981df','60156822-c285-4617-9d0e-0719128981df','{"from":null,"to":"free","when":"now"}');
INSERT INTO "audit" VALUES(14,'2026-11-18T09:14:12.350Z','user:03520483-f33a-4d18-9acb-8a52966dc3e4','key.created','60156822-c285-4617-9d0e-0719128981df','d338cd78-5f88-458e-8ae4-7084e49298e3','{"name":"First test key","mode":"test","prefix":"sb_test_QDum","lastFour":"A2J9","allowedOrigins":[]}');
INSERT INTO "audit" VALUES(15,'2026-11-18T09:14:26.131Z','cli:operator','user.link',NULL,'new user','{"role":"member"}');
INSERT INTO "audit" VALUES(16,'2026-11-18T09:14:29.016Z','user:225f156d-ae3a-4bee-9ecc-66d392a36f48','account.created','242ba88d-5d2d-4f76-9588-0767eb669056','242ba88d-5d2d-4f76-9588-0767eb669056','{"name":"carl@example.com"}');
INSERT INTO "audit" VALUES(17,'2026-11-18T09:14:29.016Z','user:225f156d-ae3a-4bee-9ecc-66d392a36f48','user.signed_up','242ba88d-5d2d-4f76-9588-0767eb669056','225f156d-ae3a-4bee-9ecc-66d392a36f48','{"role":"member"}');
INSERT INTO "audit" VALUES(18,'2026-11-18T09:14:29.040Z','user:225f156d-ae3a-4bee-9ecc-66d392a36f48','user.signed_in','242ba88d-5d2d-4f76-9588-0767eb669056','225f156d-ae3a-4bee-9ecc-66d392a36f48','{}');
CREATE TABLE authenticators (
  user_id text primary key references users (id),
  secret text not null,
  last_step integer not null,
  created_at text not null
) strict;
INSERT INTO "authenticators" VALUES('a5bf6cbe-b424-4efc-8506-9f40722f4ad4','AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',1,'2026-11-18T09:00:00.000Z');
CREATE TABLE credit_notices (
  user_id text not null references users (id),
  period_starts_at text not null,
  percent integer not null,
  claimed_at text not null,
  sent_at text, credits integer,
  primary key (user_id, period_starts_at, percent)
) strict;
INSERT INTO "credit_notices" VALUES('a5bf6cbe-b424-4efc-8506-9f40722f4ad4','2026-11-18T09:00:00.000Z',80,'2026-11-18T09:00:00.000Z','2026-11-18T09:00:00.000Z',100);
CREATE TABLE customers (
    account_id text primary key references accounts (id),
    customer text not null unique
  , revision integer not null default 0) strict;
INSERT INTO "customers" VALUES('0724fd67-9ae3-476a-9131-f7e5b83f219a','cus_1',2);
CREATE TABLE idempotency (
    account_id text not null references accounts (id),
    key text not null,
    fingerprint text not null,
    render_id text not null,
    owner text not null,
    state text not null check (state in ('running', 'done')),
    facts text,
    expires_at text not null,
    primary key (account_id, key)
  ) strict;
INSERT INTO "idempotency" VALUES('0724fd67-9ae3-476a-9131-f7e5b83f219a','live:once','5151547b8e07a7d953700f2b546d9b958c96b7af739a3cb890ca397fac4d22c6','a9fb5e37-85c8-4ec7-a037-3d3e8821c52e','host/1/a','done','{"content-type":"image/png","content-disposition":"inline; filename=\"a9fb5e37-85c8-4ec7-a037-3d3e8821c52e.png\"","x-render-id":"a9fb5e37-85c8-4ec7-a037-3d3e8821c52e","x-source-type":"image","x-render-duration-ms":"251","server-timing":"receive;dur=100.7, decode;dur=59.9, layout;dur=7.1, draw;dur=7.0, blend;dur=10.5, encode;dur=136.1","sha256":"b78d8a711d787b620a3ea160d7e894b62a1b2c5441c02059ead26388ca74cc00"}','2026-11-19T09:13:28.194Z');
INSERT INTO "idempotency" VALUES('0724fd67-9ae3-476a-9131-f7e5b83f219a','live:later','264c639c1da0680500d890fa3c564f780b9ee3682050728eb97f57e68b3fc65b','031ed241-6d29-47bc-828c-693aca6da860','renders','done','{}','2026-11-19T09:13:28.995Z');
CREATE TABLE invitations (
  hash text primary key,
  account_id text not null references accounts (id),
  email text not null,
  account_role text not null check (account_role in ('owner', 'member', 'billing')),
  created_at text not null,
  expires_at text not null
) strict;
INSERT INTO "invitations" VALUES('invited','0724fd67-9ae3-476a-9131-f7e5b83f219a','fred@example.com','member','2026-11-18T09:00:00.000Z','2026-12-18T09:00:00.000Z');
CREATE TABLE linked_identities (
  provider text not null,
  subject text not null,
  user_id text not null references users (id) on delete cascade,
  email text not null,
  created_at text not null,
  last_used_at text not null,
  primary key (provider, subject),
  unique (user_id, provider)
) strict;
INSERT INTO "linked_identities" VALUES('google','1','dora','dora@example.com','2026-11-18T09:00:00.000Z','2026-11-18T09:00:00.000Z');
CREATE TABLE owners (
    id text primary key,
    alive_until text not null
  ) strict;
INSERT INTO "owners" VALUES('host/1/a','2026-11-18T09:14:57.218Z');
INSERT INTO "owners" VALUES('renders','9999-12-31T23:59:59.999Z');
CREATE TABLE passkey_challenges (
  hash text primary key,
  visitor text not null,
  expires_at text not null
) strict;
INSERT INTO "passkey_challenges" VALUES('challenge','visitor','2026-12-18T09:00:00.000Z');
CREATE TABLE passkeys (
  id text primary key,
  user_id text not null references users (id),
  name text not null,
  public_key text not null,
  counter integer not null,
  transports text not null,
  created_at text not null,
  last_used_at text
) strict;
INSERT INTO "passkeys" VALUES('passkey','a5bf6cbe-b424-4efc-8506-9f40722f4ad4','Phone','y',1,'["usb"]','2026-11-18T09:00:00.000Z',NULL);
CREATE TABLE password_links (
    hash text primary key,
    email text not null,
    role text not null check (role in ('member', 'operator')),
    account_id text references accounts (id),
    created_at text not null,
    expires_at text not null
  , user_id text references users (id)) strict;
INSERT INTO "password_links" VALUES('462cac30a6d3c7f8239fdcb0faa94fda74372bde7ca1a68ba162239e9518b34c','bob@example.com','member',NULL,'2026-11-18T09:13:33.065Z','2026-11-19T09:13:33.062Z',NULL);
CREATE TABLE payment_events (
    id text primary key,
    type text not null,
    received_at text not null
  ) strict;
INSERT INTO "payment_events" VALUES('evt_1','invoice.paid','2026-11-18T09:00:00.000Z');
CREATE TABLE periods (
    account_id text not null references accounts (id),
    starts_at text not null,
    ends_at text not null,
    used integer not null default 0 check (used >= 0),
    reserved integer not null default 0 check (reserved >= 0), delivered integer not null default 0, broken_free integer not null default 0, broken_charged integer not null default 0, granted integer not null default 0,
    primary key (account_id, starts_at)
  ) strict;
INSERT INTO "periods" VALUES('0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',6,1,6,0,0,0);
CREATE TABLE recovery_codes (
  user_id text not null references users (id),
  hash text not null,
  primary key (user_id, hash)
) strict;
INSERT INTO "recovery_codes" VALUES('a5bf6cbe-b424-4efc-8506-9f40722f4ad4','one');
CREATE TABLE render_batches (
    id text primary key,
    account_id text not null references accounts (id),
    key_id text,
    mode text not null check (mode in ('live', 'test')),
    created_at text not null
  ) strict;
INSERT INTO "render_batches" VALUES('4e06a43f-c967-47f1-a115-3f4d6d84f86f','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','2026-11-18T09:13:29.942Z');
CREATE TABLE render_events (
    id text primary key,
    account_id text not null references accounts (id),
    render_id text not null,
    type text not null,
    created_at text not null,
    handled_at text
  ) strict;
INSERT INTO "render_events" VALUES('e6fff03b-174b-4c28-9c4d-fe8402225fc1','0724fd67-9ae3-476a-9131-f7e5b83f219a','8e2623f1-afed-4b99-af10-f10a790e082e','render.succeeded','2026-11-18T09:13:29.329Z','2026-11-18T09:13:29.478Z');
INSERT INTO "render_events" VALUES('ba502bc6-8a06-4a39-bb5b-79c5d2edd0d9','0724fd67-9ae3-476a-9131-f7e5b83f219a','031ed241-6d29-47bc-828c-693aca6da860','render.succeeded','2026-11-18T09:13:29.428Z','2026-11-18T09:13:29.492Z');
INSERT INTO "render_events" VALUES('13c63376-aa44-4b57-b4db-7eb82025dadc','0724fd67-9ae3-476a-9131-f7e5b83f219a','54a7cfb9-db9e-431c-8234-7c441c34301b','render.succeeded','2026-11-18T09:13:30.203Z','2026-11-18T09:13:30.440Z');
INSERT INTO "render_events" VALUES('5cdf0544-4b2a-4aaf-b14c-88c970336295','0724fd67-9ae3-476a-9131-f7e5b83f219a','e46ea425-8610-441a-bdc8-0ae00b431b99','render.succeeded','2026-11-18T09:13:30.310Z','2026-11-18T09:13:30.442Z');
INSERT INTO "render_events" VALUES('4e06a43f-c967-47f1-a115-3f4d6d84f86f','0724fd67-9ae3-476a-9131-f7e5b83f219a','4e06a43f-c967-47f1-a115-3f4d6d84f86f','batch.completed','2026-11-18T09:13:30.440Z','2026-11-18T09:13:30.455Z');
INSERT INTO "render_events" VALUES('e208da80-31f6-4e5a-b39d-196c8a747c40','0724fd67-9ae3-476a-9131-f7e5b83f219a','cd91313c-7d70-48bf-b76c-43ccf1585372','render.succeeded','2026-11-18T09:14:31.806Z','2026-11-18T09:14:32.025Z');
CREATE TABLE render_jobs (
    id text primary key,
    account_id text not null references accounts (id),
    key_id text,
    mode text not null check (mode in ('live', 'test')),
    batch_id text references render_batches (id),
    idempotency_key text,
    status text not null check (status in ('queued', 'rendering', 'succeeded', 'failed', 'canceled')),
    lane text not null check (lane in ('image', 'video', 'fetch')),
    request text not null,
    plan text not null,
    period_starts_at text not null,
    period_ends_at text not null,
    renews integer not null check (renews in (0, 1)),
    max_running integer not null,
    asset text,
    asset_format text,
    asset_bytes integer not null default 0,
    asset_sha256 text,
    has_asset integer not null default 0 check (has_asset in (0, 1)),
    owner text,
    due_at text not null,
    attempts integer not null default 0,
    progress integer not null default 0,
    source_type text,
    credits integer,
    result text,
    error text,
    output text,
    output_bytes integer not null default 0,
    has_output integer not null default 0 check (has_output in (0, 1)),
    token text unique,
    expires_at text,
    created_at text not null,
    started_at text,
    finished_at text
  ) strict;
INSERT INTO "render_jobs" VALUES('031ed241-6d29-47bc-828c-693aca6da860','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live',NULL,'live:later','succeeded','image','{"isJson":false,"fields":[{"name":"text","value":"Done later"},{"name":"format","value":"jpeg"},{"name":"webhook_url","value":"https://example.com/done"}]}','pro','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',1,16,'assets/031ed241-6d29-47bc-828c-693aca6da860','jpeg',111511,'b78d8a711d787b620a3ea160d7e894b62a1b2c5441c02059ead26388ca74cc00',0,NULL,'2026-11-18T09:13:59.000Z',1,1000,'image',1,'{"headers":{"content-type":"image/jpeg","content-disposition":"inline; filename=\"031ed241-6d29-47bc-828c-693aca6da860.jpg\"","x-render-id":"031ed241-6d29-47bc-828c-693aca6da860","x-source-type":"image","x-source-pixels":"reencoded"},"width":1080,"height":1920,"duration":null,"warnings":[],"missingGlyphs":0}',NULL,'outputs/031ed241-6d29-47bc-828c-693aca6da860.29b4f0a1d41526e6',171232,1,'L_oCSng6S2AuEmu0I2zMziApwcLY6n8P','2026-11-19T09:13:29.379Z','2026-11-18T09:13:28.995Z','2026-11-18T09:13:29.000Z','2026-11-18T09:13:29.427Z');
INSERT INTO "render_jobs" VALUES('8e2623f1-afed-4b99-af10-f10a790e082e','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live',NULL,NULL,'succeeded','image','{"isJson":false,"fields":[{"name":"deliver","value":"url"},{"name":"width","value":"300"},{"name":"height","value":"300"},{"name":"text","value":"Link"}]}','pro','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',1,16,NULL,NULL,0,NULL,0,NULL,'',0,1000,'image',1,'{"headers":{"content-type":"image/png","content-disposition":"inline; filename=\"8e2623f1-afed-4b99-af10-f10a790e082e.png\"","x-render-id":"8e2623f1-afed-4b99-af10-f10a790e082e","x-source-type":"image"},"width":300,"height":300,"duration":null,"warnings":[],"missingGlyphs":0}',NULL,'outputs/8e2623f1-afed-4b99-af10-f10a790e082e.5ff290de0865ee8d',938,1,'0iiImE7IMa9CpEsyq-Y-VfaSXoW6GwX_','2026-11-19T09:13:29.328Z','2026-11-18T09:13:29.328Z','2026-11-18T09:13:29.328Z','2026-11-18T09:13:29.328Z');
INSERT INTO "render_jobs" VALUES('e46ea425-8610-441a-bdc8-0ae00b431b99','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','4e06a43f-c967-47f1-a115-3f4d6d84f86f',NULL,'succeeded','image','{"isJson":true,"fields":[{"name":"text","value":"one"},{"name":"width","value":200},{"name":"height","value":200}]}','pro','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',1,16,NULL,NULL,0,NULL,0,NULL,'2026-11-18T09:14:00.211Z',1,1000,'image',1,'{"headers":{"content-type":"image/png","content-disposition":"inline; filename=\"e46ea425-8610-441a-bdc8-0ae00b431b99.png\"","x-render-id":"e46ea425-8610-441a-bdc8-0ae00b431b99","x-source-type":"image"},"width":200,"height":200,"duration":null,"warnings":[],"missingGlyphs":0}',NULL,'outputs/e46ea425-8610-441a-bdc8-0ae00b431b99.b434828ae2d9b321',668,1,'j2b5FCwFhyKOK_LO1ZhNavZqNWGIRlxD','2026-11-19T09:13:30.303Z','2026-11-18T09:13:29.942Z','2026-11-18T09:13:30.211Z','2026-11-18T09:13:30.309Z');
INSERT INTO "render_jobs" VALUES('54a7cfb9-db9e-431c-8234-7c441c34301b','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','4e06a43f-c967-47f1-a115-3f4d6d84f86f',NULL,'succeeded','image','{"isJson":true,"fields":[{"name":"text","value":"two"},{"name":"width","value":200},{"name":"height","value":200}]}','pro','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',1,16,NULL,NULL,0,NULL,0,NULL,'2026-11-18T09:13:59.971Z',1,1000,'image',1,'{"headers":{"content-type":"image/png","content-disposition":"inline; filename=\"54a7cfb9-db9e-431c-8234-7c441c34301b.png\"","x-render-id":"54a7cfb9-db9e-431c-8234-7c441c34301b","x-source-type":"image"},"width":200,"height":200,"duration":null,"warnings":[],"missingGlyphs":0}',NULL,'outputs/54a7cfb9-db9e-431c-8234-7c441c34301b.a8754358e59d4d1a',687,1,'0K29D-FEd9TEMPiAHLNcnqKKbv1VPa_w','2026-11-19T09:13:30.198Z','2026-11-18T09:13:29.942Z','2026-11-18T09:13:29.971Z','2026-11-18T09:13:30.199Z');
INSERT INTO "render_jobs" VALUES('cd91313c-7d70-48bf-b76c-43ccf1585372','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live',NULL,NULL,'succeeded','image','{"isJson":false,"fields":[{"name":"text","value":"Queued 1"}]}','pro','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',1,16,'assets/cd91313c-7d70-48bf-b76c-43ccf1585372','jpeg',111511,NULL,0,NULL,'2026-11-18T09:15:01.161Z',1,1000,'image',1,'{"headers":{"content-type":"image/png","content-disposition":"inline; filename=\"cd91313c-7d70-48bf-b76c-43ccf1585372.png\"","x-render-id":"cd91313c-7d70-48bf-b76c-43ccf1585372","x-source-type":"image"},"width":1080,"height":1920,"duration":null,"warnings":[],"missingGlyphs":0}',NULL,'outputs/cd91313c-7d70-48bf-b76c-43ccf1585372.6983a9e7012797f5',1563325,1,'TJZGx0x3MC9a5Jk52PLkEEF06ZLFWej8','2026-11-19T09:14:31.781Z','2026-11-18T09:14:31.155Z','2026-11-18T09:14:31.161Z','2026-11-18T09:14:31.806Z');
INSERT INTO "render_jobs" VALUES('052c5011-3493-4f69-ad61-98991bffc76b','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live',NULL,NULL,'rendering','image','{"isJson":false,"fields":[{"name":"text","value":"Queued 2"}]}','pro','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',1,16,'assets/052c5011-3493-4f69-ad61-98991bffc76b','jpeg',111511,NULL,1,'host/1/a','2026-11-18T09:15:01.878Z',1,0,'image',NULL,NULL,NULL,NULL,0,0,NULL,NULL,'2026-11-18T09:14:31.300Z','2026-11-18T09:14:31.878Z',NULL);
INSERT INTO "render_jobs" VALUES('73f5a943-dd48-4b32-a56b-340c47276b12','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live',NULL,NULL,'queued','image','{"isJson":false,"fields":[{"name":"text","value":"Queued 3"}]}','pro','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',1,16,'assets/73f5a943-dd48-4b32-a56b-340c47276b12','jpeg',111511,NULL,1,NULL,'',0,0,'image',NULL,NULL,NULL,NULL,0,0,NULL,NULL,'2026-11-18T09:14:31.555Z',NULL,NULL);
INSERT INTO "render_jobs" VALUES('fffcffc6-8e96-4c92-a644-384c682f06c3','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live',NULL,NULL,'queued','image','{"isJson":false,"fields":[{"name":"text","value":"Queued 4"}]}','pro','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',1,16,'assets/fffcffc6-8e96-4c92-a644-384c682f06c3','jpeg',111511,NULL,1,NULL,'',0,0,'image',NULL,NULL,NULL,NULL,0,0,NULL,NULL,'2026-11-18T09:14:31.781Z',NULL,NULL);
INSERT INTO "render_jobs" VALUES('0127d978-82a2-42a0-bb3a-b33ac61c03db','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live',NULL,NULL,'queued','image','{"isJson":false,"fields":[{"name":"text","value":"Queued 5"}]}','pro','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z',1,16,'assets/0127d978-82a2-42a0-bb3a-b33ac61c03db','jpeg',111511,NULL,1,NULL,'',0,0,'image',NULL,NULL,NULL,NULL,0,0,NULL,NULL,'2026-11-18T09:14:32.122Z',NULL,NULL);
CREATE TABLE renders (
    id text primary key,
    account_id text not null references accounts (id),
    key_id text,
    mode text not null check (mode in ('live', 'test')),
    kind text not null check (kind in ('image', 'video', 'overlay')),
    credits integer not null check (credits >= 0),
    period_starts_at text not null,
    state text not null check (state in ('reserved', 'settled', 'released')),
    outcome text not null,
    owner text not null,
    created_at text not null,
    finished_at text,
    duration_ms integer
  ) strict;
INSERT INTO "renders" VALUES('a9fb5e37-85c8-4ec7-a037-3d3e8821c52e','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','image',1,'2026-11-18T09:13:12.835Z','settled','delivered','host/1/a','2026-11-18T09:13:28.365Z','2026-11-18T09:13:28.752Z',251);
INSERT INTO "renders" VALUES('031ed241-6d29-47bc-828c-693aca6da860','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','image',1,'2026-11-18T09:13:12.835Z','settled','delivered','renders','2026-11-18T09:13:29.076Z','2026-11-18T09:13:29.428Z',252);
INSERT INTO "renders" VALUES('8e2623f1-afed-4b99-af10-f10a790e082e','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','overlay',1,'2026-11-18T09:13:12.835Z','settled','delivered','host/1/a','2026-11-18T09:13:29.154Z','2026-11-18T09:13:29.329Z',135);
INSERT INTO "renders" VALUES('54a7cfb9-db9e-431c-8234-7c441c34301b','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','overlay',1,'2026-11-18T09:13:12.835Z','settled','delivered','renders','2026-11-18T09:13:29.988Z','2026-11-18T09:13:30.203Z',42);
INSERT INTO "renders" VALUES('e46ea425-8610-441a-bdc8-0ae00b431b99','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','overlay',1,'2026-11-18T09:13:12.835Z','settled','delivered','renders','2026-11-18T09:13:30.234Z','2026-11-18T09:13:30.310Z',58);
INSERT INTO "renders" VALUES('cd91313c-7d70-48bf-b76c-43ccf1585372','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','image',1,'2026-11-18T09:13:12.835Z','settled','delivered','renders','2026-11-18T09:14:31.185Z','2026-11-18T09:14:31.806Z',579);
INSERT INTO "renders" VALUES('052c5011-3493-4f69-ad61-98991bffc76b','0724fd67-9ae3-476a-9131-f7e5b83f219a','e1486055-8a13-4e55-b1c6-3eb9640509c5','live','image',1,'2026-11-18T09:13:12.835Z','reserved','running','renders','2026-11-18T09:14:31.935Z',NULL,NULL);
CREATE TABLE requests (
    id text primary key,
    account_id text not null references accounts (id),
    at text not null,
    key_id text,
    path text not null,
    status integer not null,
    code text not null,
    duration_ms integer not null,
    credits integer not null,
    bytes_in integer not null,
    bytes_out integer not null,
    faults text not null
  ) strict;
INSERT INTO "requests" VALUES('78012b1e-2534-4a92-98ae-6695a0428f9a','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:13:28.736Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/overlay',400,'invalid_fields',43,0,390,901,'[{"pointer":"#/text","code":"blank"},{"pointer":"#/width","code":"required"},{"pointer":"#/height","code":"required"}]');
INSERT INTO "requests" VALUES('a9fb5e37-85c8-4ec7-a037-3d3e8821c52e','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:13:28.758Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/overlay',200,'',549,1,112080,1565391,'[]');
INSERT INTO "requests" VALUES('449308d9-8a52-48fc-9601-9f188463376d','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:13:28.896Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/webhook-endpoints',201,'',103,0,240,714,'[]');
INSERT INTO "requests" VALUES('031ed241-6d29-47bc-828c-693aca6da860','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:13:29.069Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/overlay',202,'',94,0,112326,806,'[]');
INSERT INTO "requests" VALUES('8e2623f1-afed-4b99-af10-f10a790e082e','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:13:29.378Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/overlay',200,'',248,1,688,1014,'[]');
INSERT INTO "requests" VALUES('4e06a43f-c967-47f1-a115-3f4d6d84f86f','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:13:30.011Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/batches',202,'',70,0,290,1288,'[]');
INSERT INTO "requests" VALUES('cd91313c-7d70-48bf-b76c-43ccf1585372','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:14:31.175Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/overlay',202,'',153,0,112077,806,'[]');
INSERT INTO "requests" VALUES('052c5011-3493-4f69-ad61-98991bffc76b','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:14:31.323Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/overlay',202,'',59,0,112077,806,'[]');
INSERT INTO "requests" VALUES('73f5a943-dd48-4b32-a56b-340c47276b12','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:14:31.564Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/overlay',202,'',172,0,112077,806,'[]');
INSERT INTO "requests" VALUES('fffcffc6-8e96-4c92-a644-384c682f06c3','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:14:31.786Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/overlay',202,'',113,0,112077,806,'[]');
INSERT INTO "requests" VALUES('0127d978-82a2-42a0-bb3a-b33ac61c03db','0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18T09:14:32.127Z','e1486055-8a13-4e55-b1c6-3eb9640509c5','POST /v1/overlay',202,'',305,0,112077,806,'[]');
CREATE TABLE schema_version (compatible_from integer not null) strict;
INSERT INTO "schema_version" VALUES(6);
CREATE TABLE sessions (
    hash text primary key,
    user_id text not null references users (id),
    created_at text not null,
    idle_until text not null,
    ends_at text not null
  , user_agent text not null default '') strict;
INSERT INTO "sessions" VALUES('22f7a13efd7605b7895e3aae1920182e442fa2e898a4e6c49ae5ba4dbeec44b2','a5bf6cbe-b424-4efc-8506-9f40722f4ad4','2026-11-18T09:14:01.659Z','2026-11-25T09:14:01.659Z','2026-12-18T09:14:01.659Z','node');
INSERT INTO "sessions" VALUES('c7377ac99034072bc38b635ebc980de726ba20386244a204a47f23cc12a84df4','03520483-f33a-4d18-9acb-8a52966dc3e4','2026-11-18T09:14:12.258Z','2026-11-25T09:14:12.258Z','2026-12-18T09:14:12.258Z','node');
INSERT INTO "sessions" VALUES('5d69cae92c61c8d257203d58604c507c602196d58f879ab5b3d009cd9c0c9e1e','225f156d-ae3a-4bee-9ecc-66d392a36f48','2026-11-18T09:14:29.040Z','2026-11-25T09:14:29.040Z','2026-12-18T09:14:29.040Z','');
CREATE TABLE subscriptions (
    account_id text primary key references accounts (id),
    plan text not null,
    next_plan text,
    status text not null check (status in ('active', 'inactive')),
    renews integer not null check (renews in (0, 1)),
    provider text not null check (provider in ('manual', 'stripe', 'marketplace')),
    provider_subscription text,
    anchor_at text not null,
    period_starts_at text not null,
    period_ends_at text not null
  ) strict;
INSERT INTO "subscriptions" VALUES('0724fd67-9ae3-476a-9131-f7e5b83f219a','pro',NULL,'active',1,'manual',NULL,'2026-11-18T09:13:12.835Z','2026-11-18T09:13:12.835Z','2026-12-18T09:13:12.835Z');
INSERT INTO "subscriptions" VALUES('60156822-c285-4617-9d0e-0719128981df','free',NULL,'active',1,'manual',NULL,'2026-11-18T09:14:12.345Z','2026-11-18T09:14:12.345Z','2026-12-18T09:14:12.345Z');
CREATE TABLE trusted_time (
    id integer primary key check (id = 1),
    trusted_at text not null,
    jumped_at text
  ) strict;
INSERT INTO "trusted_time" VALUES(1,'2026-11-18T09:14:17.208Z',NULL);
CREATE TABLE usage_days (
    account_id text not null references accounts (id),
    day text not null,
    mode text not null,
    outcome text not null,
    renders integer not null,
    credits integer not null,
    primary key (account_id, day, mode, outcome)
  ) strict;
INSERT INTO "usage_days" VALUES('0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18','live','delivered',6,6);
INSERT INTO "usage_days" VALUES('0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-18','live','invalid_fields',1,0);
CREATE TABLE usage_details (
  account_id text not null references accounts (id),
  day text not null,
  details text not null,
  primary key (account_id, day)
) strict;
INSERT INTO "usage_details" VALUES('0724fd67-9ae3-476a-9131-f7e5b83f219a','2026-11-17','[]');
CREATE TABLE users (
    id text primary key,
    account_id text not null references accounts (id),
    email text not null unique,
    role text not null check (role in ('member', 'operator')),
    password_hash text not null,
    created_at text not null
  , unconfirmed_email text, account_role text not null default 'owner'
  check (account_role in ('owner', 'member', 'billing')), has_password integer not null default 1 check (has_password in (0, 1))) strict;
INSERT INTO "users" VALUES('a5bf6cbe-b424-4efc-8506-9f40722f4ad4','0724fd67-9ae3-476a-9131-f7e5b83f219a','ann@example.com','member','$argon2id$v=19$m=19456,t=2,p=1$Dc1VX6MhfnJalZUrqOdnYQ$IETbRxU42aoSXmOq5kwEDxp4a0tedmU7H0wbTXp1/Jk','2026-11-18T09:14:01.649Z',NULL,'owner',1);
INSERT INTO "users" VALUES('03520483-f33a-4d18-9acb-8a52966dc3e4','60156822-c285-4617-9d0e-0719128981df','eve@example.com','member','$argon2id$v=19$m=19456,t=2,p=1$D/bCnvzDHJSJocqFKlRQbA$hkZtInTwrhPs+1zh8zenUBm9R85WNitHyP5YgGLA8Fc','2026-11-18T09:14:12.255Z',NULL,'owner',1);
INSERT INTO "users" VALUES('225f156d-ae3a-4bee-9ecc-66d392a36f48','242ba88d-5d2d-4f76-9588-0767eb669056','carl@example.com','member','$argon2id$v=19$m=19456,t=2,p=1$0Ffww8/uER+fKzYOwNI7Pw$EQssgbOyIKeX5viwH1FZW1yOsuMXMRc3M3y+wDWvc6U','2026-11-18T09:14:29.016Z',NULL,'owner',1);
INSERT INTO "users" VALUES('dora','0724fd67-9ae3-476a-9131-f7e5b83f219a','dora@example.com','member','random','2026-11-18T09:00:00.000Z',NULL,'billing',0);
INSERT INTO "users" VALUES('gus','0724fd67-9ae3-476a-9131-f7e5b83f219a','unconfirmed:1','member','hash','2026-11-18T09:00:00.000Z','gus@example.com','owner',1);
CREATE TABLE webhook_attempts (
    delivery_id text not null references webhook_deliveries (id),
    number integer not null,
    at text not null,
    duration_ms integer not null,
    request_headers text not null,
    status integer,
    content_type text,
    response text not null,
    error text,
    primary key (delivery_id, number)
  ) strict;
INSERT INTO "webhook_attempts" VALUES('dee9e620-ac8c-486d-b5e3-36649f292278',1,'2026-11-18T09:13:29.597Z',281,'{"content-type":"application/json","content-length":"614","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_e6fff03b-174b-4c28-9c4d-fe8402225fc1","webhook-timestamp":"1794993209","webhook-signature":"v1,wSIPVWh8ju14lUtjsk1IqcxEccoMSXhS9Dpw2nzKH0Q="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('8d306f99-4f05-493d-aa07-757a7543888a',1,'2026-11-18T09:13:29.604Z',273,'{"content-type":"application/json","content-length":"627","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_ba502bc6-8a06-4a39-bb5b-79c5d2edd0d9","webhook-timestamp":"1794993209","webhook-signature":"v1,C30t/QjIAHWEYFeejZVM2bsic5eppblzcadhxuG9Sas="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('6f51570d-3317-46b3-b175-1c63877361ef',1,'2026-11-18T09:13:29.622Z',256,'{"content-type":"application/json","content-length":"627","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_ba502bc6-8a06-4a39-bb5b-79c5d2edd0d9","webhook-timestamp":"1794993209","webhook-signature":"v1,QqU9xZTyki+7pclfmnEUmFwqy8rtqlc2969melJNGZ4="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('d57c795d-6b0b-4301-bdbf-e5a95f82ec1f',1,'2026-11-18T09:13:30.444Z',6,'{"content-type":"application/json","content-length":"648","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_13c63376-aa44-4b57-b4db-7eb82025dadc","webhook-timestamp":"1794993210","webhook-signature":"v1,8rvlfDZKI4c41i6jBvVaJL/B2l0WHf5rak0i6rMSFZk="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('4a82447f-e5cb-4d90-89f2-0c4b764f76b5',1,'2026-11-18T09:13:30.449Z',10,'{"content-type":"application/json","content-length":"648","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_5cdf0544-4b2a-4aaf-b14c-88c970336295","webhook-timestamp":"1794993210","webhook-signature":"v1,Il5W3K4RUcz9VguUcd6HYoDLIm5sg5PboDtHHFS5Yq4="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('660ae557-a21d-41a1-9f38-ddd0d4c00c64',1,'2026-11-18T09:13:30.458Z',8,'{"content-type":"application/json","content-length":"1376","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_4e06a43f-c967-47f1-a115-3f4d6d84f86f","webhook-timestamp":"1794993210","webhook-signature":"v1,C18cixRPgSdgiOdoOaYYesMYzZbOi+h6qT5tJ5jyyPw="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('dee9e620-ac8c-486d-b5e3-36649f292278',2,'2026-11-18T09:13:34.974Z',8,'{"content-type":"application/json","content-length":"614","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_e6fff03b-174b-4c28-9c4d-fe8402225fc1","webhook-timestamp":"1794993214","webhook-signature":"v1,mIYLl9gHY4p/U7ALowiRHiTMZan3CbM6s+ZX+8XEFVA="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('8d306f99-4f05-493d-aa07-757a7543888a',2,'2026-11-18T09:13:34.974Z',7,'{"content-type":"application/json","content-length":"627","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_ba502bc6-8a06-4a39-bb5b-79c5d2edd0d9","webhook-timestamp":"1794993214","webhook-signature":"v1,c7X+9UcD3YEYpA00ULEYYaBr/mFs5htRqhUbwfXbkuo="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('6f51570d-3317-46b3-b175-1c63877361ef',2,'2026-11-18T09:13:34.980Z',2,'{"content-type":"application/json","content-length":"627","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_ba502bc6-8a06-4a39-bb5b-79c5d2edd0d9","webhook-timestamp":"1794993214","webhook-signature":"v1,F7lZmEDczhJubBCK44/pK4egWcY91anDsev2tMvJXXk="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('d57c795d-6b0b-4301-bdbf-e5a95f82ec1f',2,'2026-11-18T09:13:35.490Z',19,'{"content-type":"application/json","content-length":"648","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_13c63376-aa44-4b57-b4db-7eb82025dadc","webhook-timestamp":"1794993215","webhook-signature":"v1,cPxgqwL/kxNF2E2xuH8lNZyJcvAKSTpWPOhi3btOddc="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('4a82447f-e5cb-4d90-89f2-0c4b764f76b5',2,'2026-11-18T09:13:35.502Z',7,'{"content-type":"application/json","content-length":"648","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_5cdf0544-4b2a-4aaf-b14c-88c970336295","webhook-timestamp":"1794993215","webhook-signature":"v1,UvGAhq1h6ajeNVHkA8p+/iawdINRplb9VbSwPK8ta8A="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('660ae557-a21d-41a1-9f38-ddd0d4c00c64',2,'2026-11-18T09:13:35.507Z',2,'{"content-type":"application/json","content-length":"1376","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_4e06a43f-c967-47f1-a115-3f4d6d84f86f","webhook-timestamp":"1794993215","webhook-signature":"v1,RXoE2bIOw4b/1wjHu5gQF9FSRiaVlukJ78FnxPh2Xq4="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
INSERT INTO "webhook_attempts" VALUES('c5691fa8-9f40-4cbc-8379-091f5c6aa93e',1,'2026-11-18T09:14:32.054Z',3,'{"content-type":"application/json","content-length":"620","user-agent":"storybar/0.2.0","accept-encoding":"identity","webhook-id":"msg_e208da80-31f6-4e5a-b39d-196c8a747c40","webhook-timestamp":"1794993272","webhook-signature":"v1,wuBqhzfa1asKHJhBNKY3+YixuLHXBi0FCDOG6QfibRA="}',NULL,NULL,'','The webhook can''t be sent to example.com: the host name doesn''t exist.');
CREATE TABLE webhook_deliveries (
    id text primary key,
    account_id text not null references accounts (id),
    message_id text not null references webhook_messages (id),
    endpoint_id text,
    lane text not null,
    url text not null,
    status text not null check (status in ('pending', 'succeeded', 'failed')),
    due_at text not null,
    owner text,
    claims integer not null default 0,
    attempts integer not null default 0,
    last_status integer,
    last_error text,
    created_at text not null,
    finished_at text
  ) strict;
INSERT INTO "webhook_deliveries" VALUES('dee9e620-ac8c-486d-b5e3-36649f292278','0724fd67-9ae3-476a-9131-f7e5b83f219a','msg_e6fff03b-174b-4c28-9c4d-fe8402225fc1','38d372cb-cdd2-4a48-bf77-c6555911d5ac','38d372cb-cdd2-4a48-bf77-c6555911d5ac','https://example.com/hook','pending','2026-11-18T09:18:34.982Z',NULL,2,2,NULL,'The webhook can''t be sent to example.com: the host name doesn''t exist.','2026-11-18T09:13:29.478Z',NULL);
INSERT INTO "webhook_deliveries" VALUES('6f51570d-3317-46b3-b175-1c63877361ef','0724fd67-9ae3-476a-9131-f7e5b83f219a','msg_ba502bc6-8a06-4a39-bb5b-79c5d2edd0d9','38d372cb-cdd2-4a48-bf77-c6555911d5ac','38d372cb-cdd2-4a48-bf77-c6555911d5ac','https://example.com/hook','pending','2026-11-18T09:18:34.991Z',NULL,2,2,NULL,'The webhook can''t be sent to example.com: the host name doesn''t exist.','2026-11-18T09:13:29.492Z',NULL);
INSERT INTO "webhook_deliveries" VALUES('8d306f99-4f05-493d-aa07-757a7543888a','0724fd67-9ae3-476a-9131-f7e5b83f219a','msg_ba502bc6-8a06-4a39-bb5b-79c5d2edd0d9',NULL,'0724fd67-9ae3-476a-9131-f7e5b83f219a/0','https://example.com/done','pending','2026-11-18T09:18:34.985Z',NULL,2,2,NULL,'The webhook can''t be sent to example.com: the host name doesn''t exist.','2026-11-18T09:13:29.492Z',NULL);
INSERT INTO "webhook_deliveries" VALUES('d57c795d-6b0b-4301-bdbf-e5a95f82ec1f','0724fd67-9ae3-476a-9131-f7e5b83f219a','msg_13c63376-aa44-4b57-b4db-7eb82025dadc','38d372cb-cdd2-4a48-bf77-c6555911d5ac','38d372cb-cdd2-4a48-bf77-c6555911d5ac','https://example.com/hook','pending','2026-11-18T09:18:35.509Z',NULL,2,2,NULL,'The webhook can''t be sent to example.com: the host name doesn''t exist.','2026-11-18T09:13:30.440Z',NULL);
INSERT INTO "webhook_deliveries" VALUES('4a82447f-e5cb-4d90-89f2-0c4b764f76b5','0724fd67-9ae3-476a-9131-f7e5b83f219a','msg_5cdf0544-4b2a-4aaf-b14c-88c970336295','38d372cb-cdd2-4a48-bf77-c6555911d5ac','38d372cb-cdd2-4a48-bf77-c6555911d5ac','https://example.com/hook','pending','02026-11-18T09:00:00.000Z',NULL,2,2,NULL,'The webhook can''t be sent to example.com: the host name doesn''t exist.','2026-11-18T09:13:30.442Z',NULL);
INSERT INTO "webhook_deliveries" VALUES('660ae557-a21d-41a1-9f38-ddd0d4c00c64','0724fd67-9ae3-476a-9131-f7e5b83f219a','msg_4e06a43f-c967-47f1-a115-3f4d6d84f86f','38d372cb-cdd2-4a48-bf77-c6555911d5ac','38d372cb-cdd2-4a48-bf77-c6555911d5ac','https://example.com/hook','pending','2026-11-18T09:18:35.535Z',NULL,2,2,NULL,'The webhook can''t be sent to example.com: the host name doesn''t exist.','2026-11-18T09:13:30.455Z',NULL);
INSERT INTO "webhook_deliveries" VALUES('c5691fa8-9f40-4cbc-8379-091f5c6aa93e','0724fd67-9ae3-476a-9131-f7e5b83f219a','msg_e208da80-31f6-4e5a-b39d-196c8a747c40','38d372cb-cdd2-4a48-bf77-c6555911d5ac','38d372cb-cdd2-4a48-bf77-c6555911d5ac','https://example.com/hook','pending','2026-11-18T09:14:37.061Z',NULL,1,1,NULL,'The webhook can''t be sent to example.com: the host name doesn''t exist.','2026-11-18T09:14:32.025Z',NULL);
CREATE TABLE webhook_endpoints (
    id text primary key,
    account_id text not null references accounts (id),
    url text not null,
    events text not null,
    state text not null check (state in ('enabled', 'disabled')),
    disabled_reason text check (disabled_reason in ('user', 'gone', 'failing')),
    disabled_at text,
    failing_since text,
    notice_due_at text,
    created_at text not null
  ) strict;
INSERT INTO "webhook_endpoints" VALUES('38d372cb-cdd2-4a48-bf77-c6555911d5ac','0724fd67-9ae3-476a-9131-f7e5b83f219a','https://example.com/hook','[]','enabled',NULL,NULL,'2026-11-18T09:13:29.879Z',NULL,'2026-11-18T09:13:28.882Z');
CREATE TABLE webhook_messages (
    id text primary key,
    account_id text not null references accounts (id),
    type text not null,
    body text not null,
    created_at text not null
  ) strict;
INSERT INTO "webhook_messages" VALUES('msg_e6fff03b-174b-4c28-9c4d-fe8402225fc1','0724fd67-9ae3-476a-9131-f7e5b83f219a','render.succeeded','{"type":"render.succeeded","timestamp":"2026-11-18T09:13:29.329Z","data":{"id":"8e2623f1-afed-4b99-af10-f10a790e082e","status":"succeeded","progress":1,"source_type":"image","credits":1,"test":false,"warnings":[],"missing_glyphs":0,"source_pixels":null,"batch_id":null,"created_at":"2026-11-18T09:13:29.328Z","started_at":"2026-11-18T09:13:29.328Z","finished_at":"2026-11-18T09:13:29.328Z","expires_at":"2026-11-19T09:13:29.328Z","output":{"url":"http://127.0.0.1:18431/v1/results/0iiImE7IMa9CpEsyq-Y-VfaSXoW6GwX_.png","content_type":"image/png","bytes":938,"width":300,"height":300,"duration":null},"error":null}}','2026-11-18T09:13:29.478Z');
INSERT INTO "webhook_messages" VALUES('msg_ba502bc6-8a06-4a39-bb5b-79c5d2edd0d9','0724fd67-9ae3-476a-9131-f7e5b83f219a','render.succeeded','{"type":"render.succeeded","timestamp":"2026-11-18T09:13:29.428Z","data":{"id":"031ed241-6d29-47bc-828c-693aca6da860","status":"succeeded","progress":1,"source_type":"image","credits":1,"test":false,"warnings":[],"missing_glyphs":0,"source_pixels":"reencoded","batch_id":null,"created_at":"2026-11-18T09:13:28.995Z","started_at":"2026-11-18T09:13:29.000Z","finished_at":"2026-11-18T09:13:29.427Z","expires_at":"2026-11-19T09:13:29.379Z","output":{"url":"http://127.0.0.1:18431/v1/results/L_oCSng6S2AuEmu0I2zMziApwcLY6n8P.jpg","content_type":"image/jpeg","bytes":171232,"width":1080,"height":1920,"duration":null},"error":null}}','2026-11-18T09:13:29.492Z');
INSERT INTO "webhook_messages" VALUES('msg_13c63376-aa44-4b57-b4db-7eb82025dadc','0724fd67-9ae3-476a-9131-f7e5b83f219a','render.succeeded','{"type":"render.succeeded","timestamp":"2026-11-18T09:13:30.203Z","data":{"id":"54a7cfb9-db9e-431c-8234-7c441c34301b","status":"succeeded","progress":1,"source_type":"image","credits":1,"test":false,"warnings":[],"missing_glyphs":0,"source_pixels":null,"batch_id":"4e06a43f-c967-47f1-a115-3f4d6d84f86f","created_at":"2026-11-18T09:13:29.942Z","started_at":"2026-11-18T09:13:29.971Z","finished_at":"2026-11-18T09:13:30.199Z","expires_at":"2026-11-19T09:13:30.198Z","output":{"url":"http://127.0.0.1:18431/v1/results/0K29D-FEd9TEMPiAHLNcnqKKbv1VPa_w.png","content_type":"image/png","bytes":687,"width":200,"height":200,"duration":null},"error":null}}','2026-11-18T09:13:30.440Z');
INSERT INTO "webhook_messages" VALUES('msg_5cdf0544-4b2a-4aaf-b14c-88c970336295','0724fd67-9ae3-476a-9131-f7e5b83f219a','render.succeeded','{"type":"render.succeeded","timestamp":"2026-11-18T09:13:30.310Z","data":{"id":"e46ea425-8610-441a-bdc8-0ae00b431b99","status":"succeeded","progress":1,"source_type":"image","credits":1,"test":false,"warnings":[],"missing_glyphs":0,"source_pixels":null,"batch_id":"4e06a43f-c967-47f1-a115-3f4d6d84f86f","created_at":"2026-11-18T09:13:29.942Z","started_at":"2026-11-18T09:13:30.211Z","finished_at":"2026-11-18T09:13:30.309Z","expires_at":"2026-11-19T09:13:30.303Z","output":{"url":"http://127.0.0.1:18431/v1/results/j2b5FCwFhyKOK_LO1ZhNavZqNWGIRlxD.png","content_type":"image/png","bytes":668,"width":200,"height":200,"duration":null},"error":null}}','2026-11-18T09:13:30.442Z');
INSERT INTO "webhook_messages" VALUES('msg_4e06a43f-c967-47f1-a115-3f4d6d84f86f','0724fd67-9ae3-476a-9131-f7e5b83f219a','batch.completed','{"type":"batch.completed","timestamp":"2026-11-18T09:13:30.440Z","data":{"id":"4e06a43f-c967-47f1-a115-3f4d6d84f86f","status":"completed","queued":0,"rendering":0,"succeeded":2,"failed":0,"canceled":0,"credits":2,"renders":[{"id":"e46ea425-8610-441a-bdc8-0ae00b431b99","status":"succeeded","progress":1,"source_type":"image","credits":1,"test":false,"warnings":[],"missing_glyphs":0,"source_pixels":null,"batch_id":"4e06a43f-c967-47f1-a115-3f4d6d84f86f","created_at":"2026-11-18T09:13:29.942Z","started_at":"2026-11-18T09:13:30.211Z","finished_at":"2026-11-18T09:13:30.309Z","expires_at":"2026-11-19T09:13:30.303Z","output":{"url":"http://127.0.0.1:18431/v1/results/j2b5FCwFhyKOK_LO1ZhNavZqNWGIRlxD.png","content_type":"image/png","bytes":668,"width":200,"height":200,"duration":null},"error":null},{"id":"54a7cfb9-db9e-431c-8234-7c441c34301b","status":"succeeded","progress":1,"source_type":"image","credits":1,"test":false,"warnings":[],"missing_glyphs":0,"source_pixels":null,"batch_id":"4e06a43f-c967-47f1-a115-3f4d6d84f86f","created_at":"2026-11-18T09:13:29.942Z","started_at":"2026-11-18T09:13:29.971Z","finished_at":"2026-11-18T09:13:30.199Z","expires_at":"2026-11-19T09:13:30.198Z","output":{"url":"http://127.0.0.1:18431/v1/results/0K29D-FEd9TEMPiAHLNcnqKKbv1VPa_w.png","content_type":"image/png","bytes":687,"width":200,"height":200,"duration":null},"error":null}]}}','2026-11-18T09:13:30.455Z');
INSERT INTO "webhook_messages" VALUES('msg_e208da80-31f6-4e5a-b39d-196c8a747c40','0724fd67-9ae3-476a-9131-f7e5b83f219a','render.succeeded','{"type":"render.succeeded","timestamp":"2026-11-18T09:14:31.806Z","data":{"id":"cd91313c-7d70-48bf-b76c-43ccf1585372","status":"succeeded","progress":1,"source_type":"image","credits":1,"test":false,"warnings":[],"missing_glyphs":0,"source_pixels":null,"batch_id":null,"created_at":"2026-11-18T09:14:31.155Z","started_at":"2026-11-18T09:14:31.161Z","finished_at":"2026-11-18T09:14:31.806Z","expires_at":"2026-11-19T09:14:31.781Z","output":{"url":"http://127.0.0.1:18431/v1/results/TJZGx0x3MC9a5Jk52PLkEEF06ZLFWej8.png","content_type":"image/png","bytes":1563325,"width":1080,"height":1920,"duration":null},"error":null}}','2026-11-18T09:14:32.025Z');
CREATE TABLE webhook_secrets (
    id text primary key,
    account_id text not null references accounts (id),
    lane text not null,
    secret text not null,
    created_at text not null,
    expires_at text
  ) strict;
INSERT INTO "webhook_secrets" VALUES('f7c04ead-9480-43e9-ad8b-5b3e0d993f81','0724fd67-9ae3-476a-9131-f7e5b83f219a','38d372cb-cdd2-4a48-bf77-c6555911d5ac','whsec_L6zHsqtkkVzTOC1SBTZ+F/BMQ7mgKNxuLA40LMt4h1Y=','2026-11-18T09:13:28.882Z',NULL);
INSERT INTO "webhook_secrets" VALUES('5160bdc3-e67c-418b-8290-dc2b3aec1fe5','0724fd67-9ae3-476a-9131-f7e5b83f219a','0724fd67-9ae3-476a-9131-f7e5b83f219a','whsec_bJ/T2coAiFfO/mfkbhd/8uURlT2mI11IsHqclLPsWqM=','2026-11-18T09:13:29.560Z',NULL);
CREATE INDEX api_keys_by_account on api_keys (account_id);
CREATE INDEX accounts_by_age on accounts (created_at, id);
CREATE INDEX renders_by_account on renders (account_id, created_at);
CREATE INDEX renders_by_end on renders (finished_at);
CREATE INDEX renders_reserved on renders (owner) where state = 'reserved';
CREATE INDEX idempotency_by_expiry on idempotency (expires_at);
CREATE INDEX idempotency_running on idempotency (owner) where state = 'running';
CREATE INDEX audit_by_account on audit (account_id, seq);
CREATE TRIGGER audit_no_update before update on audit begin select raise(abort, 'the audit log only grows'); end;
CREATE TRIGGER audit_no_replace before insert on audit when exists (select 1 from audit where seq = new.seq)
    begin select raise(abort, 'the audit log only grows'); end;
CREATE INDEX users_by_account on users (account_id);
CREATE INDEX sessions_by_user on sessions (user_id);
CREATE INDEX password_links_by_email on password_links (email);
CREATE INDEX renders_by_account_end on renders (account_id, finished_at);
CREATE INDEX render_jobs_due on render_jobs (lane, due_at) where status in ('queued', 'rendering');
CREATE INDEX render_jobs_active on render_jobs (account_id, status) where status in ('queued', 'rendering');
CREATE INDEX render_jobs_by_account on render_jobs (account_id, created_at, id);
CREATE INDEX render_jobs_by_start on render_jobs (account_id, started_at);
CREATE INDEX render_jobs_by_batch on render_jobs (batch_id);
CREATE INDEX render_jobs_by_end on render_jobs (finished_at);
CREATE INDEX render_jobs_assets on render_jobs (account_id) where has_asset = 1;
CREATE INDEX render_jobs_outputs on render_jobs (expires_at) where has_output = 1;
CREATE INDEX render_events_pending on render_events (created_at, id) where handled_at is null;
CREATE INDEX render_events_by_age on render_events (created_at);
CREATE INDEX requests_by_account on requests (account_id, at, id);
CREATE INDEX requests_by_time on requests (at);
CREATE INDEX webhook_endpoints_by_account on webhook_endpoints (account_id, created_at, id);
CREATE INDEX webhook_endpoints_notices on webhook_endpoints (notice_due_at) where notice_due_at is not null;
CREATE INDEX webhook_secrets_by_lane on webhook_secrets (lane, created_at);
CREATE INDEX webhook_messages_by_age on webhook_messages (created_at);
CREATE INDEX webhook_deliveries_due on webhook_deliveries (lane, due_at) where status = 'pending';
CREATE INDEX webhook_deliveries_sending on webhook_deliveries (account_id, lane) where owner is not null;
CREATE INDEX webhook_deliveries_by_account on webhook_deliveries (account_id, created_at, id);
CREATE INDEX webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, created_at, id);
CREATE INDEX webhook_deliveries_by_message on webhook_deliveries (message_id);
CREATE INDEX periods_by_end on periods (ends_at, used, account_id, starts_at);
CREATE INDEX accounts_deleted on accounts (deleted_at) where deleted_at is not null;
CREATE INDEX invitations_by_account on invitations (account_id);
CREATE INDEX usage_days_by_day on usage_days (day, mode, outcome, renders, credits);
CREATE TRIGGER audit_no_delete before delete on audit
  when old.account_id is null or exists (select 1 from accounts where id = old.account_id)
  begin select raise(abort, 'the audit log only grows'); end;
CREATE INDEX passkeys_by_user on passkeys (user_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('audit',18);
COMMIT;
