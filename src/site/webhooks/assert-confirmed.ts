import { AppError } from '../../shared/errors.ts';
import type { User } from '../../service/store/people/user.ts';

const CONFIRM_FIRST = 'Confirm your email address to receive webhooks.';

/** Otherwise anyone could sign up with any address and have requests sent to other servers. */
export function assertConfirmed({ unconfirmedEmail }: User): void {
  if (unconfirmedEmail !== null) throw new AppError('invalid_fields', CONFIRM_FIRST);
}
