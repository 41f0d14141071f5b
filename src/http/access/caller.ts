import type { Subscriber } from '../../account/access.ts';
import type { Plan } from '../../account/plans.ts';

/** An authenticated client that may render, with the plan of its account. */
export interface Caller extends Subscriber {
  readonly plan: Plan;
}
