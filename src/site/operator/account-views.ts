// The pages about one account, as tabs.

import type { Tab } from '../account/frame.ts';

export function accountViews(id: string): readonly Tab[] {
  const path = `/operator/accounts/${encodeURIComponent(id)}`;
  return [
    { path, label: 'Account' },
    { path: `${path}/usage`, label: 'Usage' },
    { path: `${path}/requests`, label: 'Requests' },
    { path: `/operator/audit?${new URLSearchParams({ account: id }).toString()}`, label: 'Audit log' },
  ];
}
