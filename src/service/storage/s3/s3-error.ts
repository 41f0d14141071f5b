import type { IncomingHttpHeaders } from 'node:http';
import { elementText } from './s3-xml.ts';

/** Codes of temporary errors with a status below 500. */
const TEMPORARY_CODES: ReadonlySet<string> = new Set(['RequestTimeout', 'OperationAborted', 'RequestTimeTooSkewed']);
const TOO_MANY_REQUESTS = 429;
const NOT_IMPLEMENTED = 501;

/** The service refused a request. */
export class S3Error extends Error {
  readonly status: number;
  /** For example `NoSuchKey`. Empty when the service sent none. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'S3Error';
    this.status = status;
    this.code = code;
  }

  static of(status: number, headers: IncomingHttpHeaders, body: string): S3Error {
    const code = elementText(body, 'Code') ?? '';
    const region = headers['x-amz-bucket-region'];
    const parts = [
      `the storage service responded with ${status}${code === '' ? '' : ` ${code}`}`,
      elementText(body, 'Message'),
      status >= 300 && status < 400 && typeof region === 'string' ? `the bucket is in ${region}` : undefined,
    ];
    return new S3Error(status, code, parts.filter((part) => part !== undefined && part !== '').join(': '));
  }

  /** Returns true when the same request may succeed a little later. */
  get isTemporary(): boolean {
    if (this.status === NOT_IMPLEMENTED) return false;
    return this.status >= 500 || this.status === TOO_MANY_REQUESTS || TEMPORARY_CODES.has(this.code);
  }

  /**
   * Returns true when the object is missing, as opposed to the bucket. A 404 without a code may come from a proxy in
   * front of the service.
   */
  get isMissingObject(): boolean {
    return this.status === 404 && (this.code === 'NoSuchKey' || this.code === 'NotFound');
  }
}
