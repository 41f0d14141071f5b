// The permission that each page and form of the dashboard needs. A path that isn't listed needs the permission to
// develop, so a new page is never open to every role by accident.

import type { Permission } from '../../account/roles.ts';

const BY_PATH: readonly (readonly [path: string, permission: Permission])[] = [
  ['/dashboard/usage', 'view'],
  ['/dashboard/requests', 'view'],
  ['/dashboard/requests.csv', 'view'],
  ['/dashboard/plan', 'pay'],
  ['/dashboard/members', 'own'],
  ['/dashboard/account', 'own'],
  ['/dashboard/security', 'self'],
  ['/dashboard/confirmation', 'self'],
  // Operators have a role of their own; see `SessionGuard.operator`.
  ['/operator', 'self'],
];

export function permissionFor(path: string): Permission {
  if (path === '/dashboard') return 'view';
  return BY_PATH.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1] ?? 'develop';
}
