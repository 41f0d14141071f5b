import { AppError } from '../../../errors.ts';

/** Nobody elsewhere can do the work now. Whoever has workers of his own may use them instead. */
export class QueueUnavailable extends AppError {
  constructor(message: string, cause?: unknown) {
    super('renderer_unavailable', message, { retryAfterSeconds: 2, cause });
    this.name = 'QueueUnavailable';
  }
}
