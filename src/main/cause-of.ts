import { AppError } from '../shared/errors.ts';
import { messageOf } from '../shared/error-facts.ts';

/** Returns the cause of an error whose own message is meant for clients, for operators. */
export function causeOf(error: unknown): string {
  if (error instanceof AppError && error.cause !== undefined) return causeOf(error.cause);
  return messageOf(error);
}
