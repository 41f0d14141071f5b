import { AppError } from '../../../shared/errors.ts';

const EXPORT_AGAIN = 'Export it again as JPEG, PNG or HEIC and upload the new file.';

/** `reason` completes "The image can't be decoded: ...". */
export function undecodableHeif(reason: string, advice: string = EXPORT_AGAIN): AppError {
  return new AppError('asset_undecodable', `The image can't be decoded: ${reason}. ${advice}`);
}

export function damagedHeif(): AppError {
  return undecodableHeif('its header is damaged');
}
