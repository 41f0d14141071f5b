import { AppError } from '../errors.ts';

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * For operators: what lies behind an error whose own message is meant for clients. A refused connection is an
 * `AggregateError` with an empty message.
 */
export function causeOf(error: unknown): string {
  if (error instanceof AppError && error.cause !== undefined) return causeOf(error.cause);
  if (error instanceof AggregateError) return error.errors.map(causeOf).join('; ');
  return messageOf(error);
}
