import type { User } from '../../service/store/people/user.ts';

/** Returns an address as operators see it. An unconfirmed one may belong to someone else, so it is marked. */
export function userLabel({ email, unconfirmedEmail, role, accountRole }: User): string {
  const marks = [
    unconfirmedEmail !== null && 'unconfirmed',
    role === 'operator' && 'operator',
    accountRole !== 'owner' && accountRole,
  ].filter((mark) => mark !== false);
  return `${unconfirmedEmail ?? email}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`;
}
