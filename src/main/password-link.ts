import { createSecret, hashSecret } from '../service/account/secret.ts';
import { passwordLinkUrl } from '../site/identity/identity.ts';
import type { Actor } from '../service/store/audit.ts';
import type { Store } from '../service/store/store.ts';
import type { PasswordLink } from '../service/store/people/user.ts';

const LINK_LIFETIME_MS = 24 * 3_600_000;

/** Creates a link for the operator to hand out. The person who opens it chooses a password. */
export async function createPasswordLink(
  store: Store,
  link: Omit<PasswordLink, 'expiresAt'>,
  baseUrl: string,
  actor: Actor,
): Promise<string> {
  const secret = createSecret();
  const expiresAt = new Date(Date.now() + LINK_LIFETIME_MS);
  await store.users.addLink(hashSecret(secret), { ...link, expiresAt }, actor);
  return passwordLinkUrl(baseUrl, secret);
}
