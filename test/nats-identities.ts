// Creates credentials for NATS that are valid for one test: a certificate for this machine, and accounts with a credentials
// file.

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { nkeys } from '@nats-io/transport-node';

type KeyPair = ReturnType<typeof nkeys.createUser>;

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** Returns the paths of a server's key and its self-signed certificate. */
export function makeCertificate(
  directory: string,
  name: string,
): { readonly key: string; readonly certificate: string } {
  const [key, certificate] = [path.join(directory, `${name}.key`), path.join(directory, `${name}.crt`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost', '-days', '1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const { status, stderr } = spawnSync(
    'openssl',
    ['req', '-x509', ...curve, '-keyout', key, '-out', certificate, ...subject],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
  return { key, certificate };
}

/** A server configuration with one account, signed by an operator, and the credentials file of a user in it. */
export function makeCredentials(directory: string): { readonly configuration: string; readonly file: string } {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const system = nkeys.createAccount();
  const unlimited = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const limits = { subs: -1, conn: -1, leaf: -1, imports: -1, exports: -1, data: -1, payload: -1, wildcards: true };
  const operatorToken = sign(operator, operator, { type: 'operator' });
  const accountToken = sign(operator, account, { type: 'account', limits: { ...limits, ...unlimited } });
  const systemToken = sign(operator, system, { type: 'account', limits });
  const userToken = sign(account, user, { type: 'user', subs: -1, data: -1, payload: -1, pub: {}, sub: {} });
  const seed = new TextDecoder().decode(user.getSeed());
  const file = path.join(directory, 'user.creds');
  writeFileSync(
    file,
    [
      '-----BEGIN NATS USER JWT-----',
      userToken,
      '------END NATS USER JWT------',
      '',
      '-----BEGIN USER NKEY SEED-----',
      seed,
      '------END USER NKEY SEED------',
      '',
    ].join('\n'),
  );
  const configuration = [
    `operator: "${operatorToken}"`,
    `system_account: ${system.getPublicKey()}`,
    'resolver: MEMORY',
    'resolver_preload {',
    `  ${account.getPublicKey()}: "${accountToken}"`,
    `  ${system.getPublicKey()}: "${systemToken}"`,
    '}',
    'jetstream { store_dir: x }',
  ].join('\n');
  return { file, configuration };
}

/** A JWT in the format of NATS, signed with an nkey (Ed25519). */
function sign(issuer: KeyPair, subject: KeyPair, claims: Readonly<Record<string, unknown>>): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = encode({ typ: 'JWT', alg: 'ed25519-nkey' });
  const body = encode({
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    nats: { ...claims, version: 2 },
  });
  const signature = issuer.sign(new TextEncoder().encode(`${head}.${body}`));
  return `${head}.${body}.${Buffer.from(signature).toString('base64url')}`;
}
