import { AppError } from '../../errors.ts';

/** The uploaded font is damaged, or lacks something that every font needs. `detail` says what. */
export function damagedFont(detail: string): AppError {
  return new AppError('asset_undecodable', `The font can't be read: ${detail}. Export it again and retry.`);
}

export function unsupportedFont(detail: string): AppError {
  return new AppError('unsupported_asset', detail);
}
