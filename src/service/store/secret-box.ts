// Encrypts secrets that the service has to read again: those of authenticator apps and of webhooks. The first key encrypts, and all
// keys decrypt. A value belongs to its row: copied to another one, it can't be decrypted there. Values from before encryption was
// turned on are plain text and stay readable.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;
/** Neither Base32 nor `whsec_` begins like this. */
const MARK = 'enc1.';
const SEALED = /^enc1\.(?<key>[0-9a-f]{8})\.(?<data>[\w-]+)$/u;

/** Where a secret is stored. */
export interface SecretPlace {
  readonly table: string;
  readonly column: string;
  readonly row: string;
}

/** The places of all secrets. `key` is the column that names the row. */
export const SECRET_COLUMNS = [
  { table: 'authenticators', column: 'secret', key: 'user_id' },
  { table: 'webhook_secrets', column: 'secret', key: 'id' },
] as const;

export class SecretBox {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #first: string | undefined;

  /** Without a key, new secrets are stored as plain text. */
  constructor(keys: readonly Buffer[] = []) {
    this.#keys = new Map(keys.map((key) => [keyId(key), key]));
    this.#first = keys[0] && keyId(keys[0]);
  }

  /** The id of the key that encrypts; undefined without keys. */
  get currentKey(): string | undefined {
    return this.#first;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  seal(place: SecretPlace, secret: string): string {
    if (this.#first === undefined) return secret;
    const key = this.#keyFor(this.#first);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(contextOf(place));
    const data = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${MARK}${this.#first}.${data.toString('base64url')}`;
  }

  /** Throws if the key is missing, or if the value was changed or belongs to another row. */
  open(place: SecretPlace, stored: string): string {
    const groups = SEALED.exec(stored)?.groups;
    if (groups === undefined) return stored;
    const data = Buffer.from(groups['data'] ?? '', 'base64url');
    const decipher = createDecipheriv(CIPHER, this.#keyFor(groups['key'] ?? ''), data.subarray(0, NONCE_BYTES));
    decipher.setAAD(contextOf(place)).setAuthTag(data.subarray(-TAG_BYTES));
    const text = decipher.update(data.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  }

  #keyFor(id: string): Buffer {
    const key = this.#keys.get(id);
    if (key === undefined) throw new Error(`the encryption key ${id} is missing from STORYBAR_ENCRYPTION_KEYS`);
    return key;
  }
}

/** Names a key without revealing it. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('storybar key id').update(key).digest('hex').slice(0, 8);
}

/** The id of the key of a stored value; undefined for plain text. */
export function keyOf(stored: string): string | undefined {
  return SEALED.exec(stored)?.groups?.['key'];
}

function contextOf({ table, column, row }: SecretPlace): Buffer {
  return Buffer.from(`${table}.${column}.${row}`, 'utf8');
}
