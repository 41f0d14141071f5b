// Converts errors of the client to failures of the command.

import { StorybarApiError, StorybarConnectionError, StorybarError, StorybarTimeoutError } from '#client';
import { type ErrorCode, ERRORS } from '../../shared/error-table.ts';
import { CommandFailure, UsageError } from '../exit-codes.ts';
import { flagFaults } from '../flag-faults.ts';

/** Errors that the client didn't create, such as disk errors, stay as they are. */
export function failureOf(error: unknown, url: string): unknown {
  const exit = ERRORS.overloaded.exit;
  if (error instanceof StorybarApiError) return refusalOf(error);
  if (error instanceof StorybarConnectionError || error instanceof StorybarTimeoutError) {
    return new CommandFailure(printable(error.message), { code: 'unreachable', exit });
  }
  if (!(error instanceof StorybarError)) return error;
  const message = `${new URL(url).origin} isn't a Storybar server that can render asynchronously: ${error.message}`;
  return new CommandFailure(printable(message), { code: 'unexpected_response', exit });
}

function refusalOf({ status, code, message, faults, problem, renderId }: StorybarApiError): CommandFailure {
  if (code === 'canceled') {
    return new CommandFailure(`Render ${renderId} was canceled.`, { code, exit: ERRORS.overloaded.exit });
  }
  const exit = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].exit : exitOfStatus(status);
  const lines = flagFaults(faults).map(printable);
  const [only] = lines;
  const text = only !== undefined && lines.length === 1 ? only : printable(problem.detail ?? message);
  return new CommandFailure(text, {
    code,
    exit,
    status,
    faults: lines.length > 1 ? lines : [],
  });
}

/** Maps statuses of codes that are newer than this program. */
function exitOfStatus(status: number): number {
  if (status === 401 || status === 403) return ERRORS.invalid_api_key.exit;
  return status >= 500 || status === 429 ? ERRORS.overloaded.exit : ERRORS.invalid_fields.exit;
}

/** Replaces control characters, because the server's texts are printed on a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?');
}

/** Returns true when the same command may succeed later, or may already have succeeded. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof CommandFailure)) return false;
  const { code, status = 0 } = error;
  return code === 'unreachable' || code === 'interrupted' || status >= 500 || status === 408 || status === 409;
}

export function withHint(error: unknown, hint: string): unknown {
  if (error instanceof UsageError) return new UsageError(`${error.message}. ${hint}`);
  if (!(error instanceof CommandFailure)) return error;
  const { message, code, exit, faults, status } = error;
  return new CommandFailure(`${message} ${hint}`, { code, exit, faults, status });
}
