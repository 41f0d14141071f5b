// The only place that turns a path from an assistant into a file. An assistant can be manipulated, so a path is
// accepted only if the file it really leads to is inside the allowed folder.

import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';

export class ForbiddenFileError extends Error {}

export async function allowedFile(directory: string, file: string): Promise<string> {
  const target = await realpath(path.resolve(directory, file)).catch(() => undefined);
  // Missing and forbidden files get the same message, because an assistant must not learn what exists elsewhere.
  if (target === undefined || !isInside(directory, target) || !(await stat(target)).isFile()) {
    throw new ForbiddenFileError(`There is no file "${file}" in ${directory}. Only files in this folder can be used.`);
  }
  return target;
}

function isInside(directory: string, target: string): boolean {
  const relative = path.relative(directory, target);
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
