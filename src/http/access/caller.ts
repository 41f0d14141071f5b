// Whoever may render, as the rest of the request sees them.

import type { Subscriber } from '../../account/access.ts';
import type { Plan } from '../../account/plans.ts';

export interface Caller extends Subscriber {
  readonly plan: Plan;
}
