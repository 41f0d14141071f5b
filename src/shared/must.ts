// For values that cannot be missing. A missing one is a bug, and a bug should fail where it happens instead of
// continuing with a made-up value.

/** Returns the value, or throws when it is undefined or null. `what` names it in the error. */
export function must<Value>(value: Value | undefined | null, what: string): Value {
  if (value === undefined || value === null) throw new Error(`${what} is missing`);
  return value;
}
