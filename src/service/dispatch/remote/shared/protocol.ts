// The compatibility of API servers and workers of different versions.

import { z } from 'zod';

/**
 * Raised when API servers and workers can't work together unless both have a change: a new step, a field that one side
 * needs, or a different path. Versions with the same number can be mixed in any way.
 */
export const PROTOCOL = 7;

const MAX_PROTOCOL = 1_000_000;

/** Fields of tickets and presences. */
export const versionFields = {
  protocol: z.int().min(1).max(MAX_PROTOCOL),
  version: z.string().regex(/^[\w.+-]{1,64}$/u),
};

export function speaksOurProtocol({ protocol }: { readonly protocol: number }): boolean {
  return protocol === PROTOCOL;
}
