import { AppError } from '../../../shared/errors.ts';

/** The uploaded font is damaged, or lacks something that every font needs. `detail` says what. */
export function damagedFont(detail: string): AppError {
  return new AppError('asset_undecodable', `The font can't be read: ${detail}. Export it again and retry.`);
}

export function unsupportedFont(detail: string): AppError {
  return new AppError('unsupported_asset', detail);
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** The uploaded font has more of something than fonts need, which would make renders slow. */
export function excessiveFont(what: string, value: number, limit: number, unit: string): AppError {
  const detail = `${what} ${NUMBER.format(value)} ${unit}; the limit is ${NUMBER.format(limit)}.`;
  return new AppError('asset_undecodable', `${detail} Simplify the font and export it again.`);
}
