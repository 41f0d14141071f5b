// The result of one check.

import { causeOf } from '../../main/cause-of.ts';

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** No check may keep the others from being reported. */
const TIMEOUT_MS = 20_000;

/** Runs a check. An error, or no result within 20 seconds, is a finding, too. */
export async function check(
  what: string,
  work: () => Promise<{ readonly ok?: boolean; readonly detail: string }>,
): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${TIMEOUT_MS / 1_000} seconds`)), TIMEOUT_MS);
  });
  try {
    const { ok = true, detail } = await Promise.race([work(), late]);
    return { what, ok, detail };
  } catch (error) {
    return { what, ok: false, detail: causeOf(error) };
  } finally {
    clearTimeout(timer);
  }
}
