/** The command line is wrong. The message says what is wrong and what to write instead. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Ends a command with a code and an exit code of its own. */
export class CommandFailure extends Error {
  readonly code: string;
  readonly exit: number;
  readonly faults: readonly string[];
  readonly status: number | undefined;

  constructor(message: string, { code, exit, faults = [], status }: FailureFacts) {
    super(message);
    this.name = 'CommandFailure';
    this.code = code;
    this.exit = exit;
    this.faults = faults;
    this.status = status;
  }
}

export interface FailureFacts {
  readonly code: string;
  readonly exit: number;
  readonly faults?: readonly string[];
  /** The status of the response, if a server reported the failure. */
  readonly status?: number | undefined;
}

/** Exit codes of failures that have no error code. */
export const USAGE_EXIT = 64;
export const SETTINGS_EXIT = 78;
