import type { Subscriber } from './access.ts';
import type { Plan } from './plans.ts';

/** An authenticated client that may render, with the plan of its account. */
export interface Caller extends Subscriber {
  readonly plan: Plan;
}
