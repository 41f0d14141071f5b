import type { PlanBook } from '../account/plans.ts';
import { AppError } from '../../shared/errors.ts';
import type { AccountSummary } from '../store/accounts/accounts.ts';
import type { Store } from '../store/store.ts';

/** Returns the account that chooses the plan. Throws the error for the user when it may not. */
export async function requireAccountForPlan(
  store: Pick<Store, 'accounts'>,
  plans: PlanBook,
  accountId: string,
  plan: string,
): Promise<AccountSummary> {
  if (plans.find(plan) === undefined) throw new AppError('not_found', `Plan "${plan}" not found.`);
  const account = await store.accounts.find(accountId);
  if (account === undefined) throw new AppError('not_found', 'Account not found.');
  if (account.subscription?.provider === 'marketplace') {
    throw new AppError('invalid_fields', 'Change the plan of this account at the marketplace.');
  }
  return account;
}
