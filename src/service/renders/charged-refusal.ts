// A refusal that was charged, such as that of a file that turned out to be too large only after it was encoded. It is stored,
// so that a repeated request gets it again instead of being rendered and charged again.

import { z } from 'zod';
import { type ErrorCode, ERRORS } from '../../shared/error-table.ts';
import { AppError } from '../../shared/errors.ts';

const refusalSchema = z.object({
  code: z.custom<ErrorCode>((code) => typeof code === 'string' && Object.hasOwn(ERRORS, code)),
  detail: z.string(),
  limit: z.number().optional(),
  actual: z.number().optional(),
});
const factsSchema = z.object({ refusal: refusalSchema.optional() });

/** Returns what is stored with the idempotency key of a request that was refused and charged. */
export function refusalFacts({ code, message, limit }: AppError): string {
  const refusal: z.infer<typeof refusalSchema> = { code, detail: message, ...limit };
  return JSON.stringify({ refusal });
}

/** Returns undefined for the facts of a render that was delivered. */
export function refusalIn(facts: string): AppError | undefined {
  const { refusal } = factsSchema.parse(JSON.parse(facts));
  return refusal && toError(refusal);
}

/** Returns the refusal of a stored render, from the problem that its caller sees. */
export function refusalOfProblem(problem: string): AppError {
  return toError(refusalSchema.parse(JSON.parse(problem)));
}

/** This time, nothing is charged. */
function toError({ code, detail, limit, actual }: z.infer<typeof refusalSchema>): AppError {
  return new AppError(code, detail, limit === undefined || actual === undefined ? {} : { limit: { limit, actual } });
}
