import { AppError } from '../../errors.ts';

/** `reason` completes "The asset cannot be rendered: ...". */
export function undecodable(reason: string, cause?: unknown): AppError {
  return new AppError('asset_undecodable', `The video cannot be rendered: ${reason}.`, { cause });
}
