import { AppError } from '../../../shared/errors.ts';

const EXPORT_AGAIN = 'Export it again and upload the new file.';
export const CONVERT_TO_H264 = 'Convert it to an MP4 with H.264 video and upload that file.';

export function encrypted(): AppError {
  return undecodable('it is encrypted', 'Upload an unencrypted copy.');
}

/** `reason` completes "The video can't be rendered: ...", and `advice` tells the caller what to do. */
export function undecodable(reason: string, advice: string = EXPORT_AGAIN): AppError {
  return new AppError('asset_undecodable', `The video can't be rendered: ${reason}. ${advice}`);
}
