// A customer's view of their usage and requests, for operators who help them. It has no forms that change anything.

import type { PlanBook } from '../../service/account/plans.ts';
import { AppError } from '../../shared/errors.ts';
import type { AccountSummary } from '../../service/store/accounts/accounts.ts';
import type { Store } from '../../service/store/store.ts';
import { sendPrivate } from '../account/frame.ts';
import { addRequestViews } from '../account/request-pages.ts';
import { idOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { usageBody } from '../account/usage-page.ts';
import { type Html, html } from '../html.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { accountViews } from './account-views.ts';

export interface CustomerViewDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'accounts' | 'ledger' | 'usage' | 'keys' | 'requests' | 'renders' | 'operator'>;
  readonly plans: PlanBook;
}

const PATH = '/operator/accounts';

export function addCustomerView(routes: SignedInRoutes, dependencies: CustomerViewDependencies): void {
  const { site, store, plans } = dependencies;
  const find = async (visit: SignedInVisit): Promise<AccountSummary> => {
    const account = await store.accounts.find(idOf(visit));
    if (account === undefined) throw new AppError('not_found', "This account doesn't exist.");
    await store.operator.recordView(account.id, `operator:${visit.user.id}`);
    return account;
  };
  routes.page({ path: `${PATH}/:id/usage`, permission: 'operate' }, async (visit) => {
    const account = await find(visit);
    const body = html`${banner(account)}${await usageBody({ store, plans }, visit, account, pathOf(account, 'usage'))}`;
    return await sendPrivate(site, visit, {
      title: `Usage of ${account.name}`,
      views: accountViews(account.id),
      body,
    });
  });
  addRequestViews(routes, dependencies, {
    route: { path: `${PATH}/:id/requests`, permission: 'operate' },
    baseOf: async (visit) => {
      const account = await find(visit);
      return {
        accountId: account.id,
        path: pathOf(account, 'requests'),
        title: `Requests of ${account.name}`,
        views: accountViews(account.id),
        before: banner(account),
      };
    },
  });
}

function pathOf({ id }: AccountSummary, page: string): string {
  return `${PATH}/${encodeURIComponent(id)}/${page}`;
}

function banner(account: AccountSummary): Html {
  return html`<p class="note">You see the pages of <strong>${account.name}</strong>. Nothing can be changed here.</p>`;
}
