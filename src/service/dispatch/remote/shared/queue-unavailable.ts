import { AppError } from '../../../../shared/errors.ts';

/** No worker on another machine can take the work now. A server with workers of its own may use them instead. */
export class QueueUnavailable extends AppError {
  constructor(message: string, cause?: unknown) {
    super('renderer_unavailable', message, { retryAfterSeconds: 2, cause });
    this.name = 'QueueUnavailable';
  }
}
