import { AppError } from '../../shared/errors.ts';

/** The delivery broke because the client closed the connection or read too slowly. */
export class DeliveryBroken extends AppError {
  readonly sentBytes: number;
  readonly totalBytes: number;

  constructor(message: string, sentBytes: number, totalBytes: number, cause: unknown) {
    super('client_closed', message, { cause });
    this.name = 'DeliveryBroken';
    this.sentBytes = sentBytes;
    this.totalBytes = totalBytes;
  }
}
