import { createSecret, hashSecret } from '../account/secret.ts';
import { passwordLink } from '../dashboard/identity/identity.ts';
import type { Actor, Store } from '../store/store.ts';
import type { PasswordLink } from '../store/users.ts';

const LINK_LIFETIME_MS = 24 * 3_600_000;

/** A link to choose a password, for whoever the operator gives it to. */
export async function makePasswordLink(
  store: Store,
  link: Omit<PasswordLink, 'expiresAt'>,
  baseUrl: string,
  actor: Actor,
): Promise<string> {
  const secret = createSecret();
  const expiresAt = new Date(Date.now() + LINK_LIFETIME_MS);
  await store.users.addLink(hashSecret(secret), { ...link, expiresAt }, actor);
  return passwordLink(baseUrl, secret);
}
