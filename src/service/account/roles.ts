// The permissions of an account's users. Operating the whole service is a separate role; see `UserRole`.

export const ACCOUNT_ROLES = ['owner', 'member', 'billing'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

export type Permission =
  /** Their own password, sessions and second factor. */
  | 'self'
  /** Usage and requests. */
  | 'view'
  /** Keys and everything else that renders. */
  | 'develop'
  /** Plan, invoices and card. */
  | 'pay'
  /** Members, export and deletion. */
  | 'own';

const PERMISSIONS: Readonly<Record<AccountRole, readonly Permission[]>> = {
  owner: ['self', 'view', 'develop', 'pay', 'own'],
  member: ['self', 'view', 'develop'],
  billing: ['self', 'view', 'pay'],
};

export function may(role: AccountRole, permission: Permission): boolean {
  return PERMISSIONS[role].includes(permission);
}
