// Receives the file of a logo or font from a page of the dashboard. A script sends it, because forms of the dashboard have no files.

import type { FastifyInstance } from 'fastify';
import { may } from '../../account/roles.ts';
import { AppError } from '../../errors.ts';
import type { BrandUpload } from '../../http/brand-upload.ts';
import type { BrandFile } from '../../store/brand/brand-files.ts';
import { PRIVATE_HEADERS } from '../account/frame.ts';
import type { SessionGuard } from '../identity/session-guard.ts';
import { callerOf, type PlaygroundAccountDependencies } from '../playground/playground-account.ts';

export interface UploadDependencies extends Pick<PlaygroundAccountDependencies, 'store' | 'plans'> {
  readonly sessionGuard: SessionGuard;
}

export function addUpload(
  app: FastifyInstance,
  path: string,
  dependencies: UploadDependencies,
  receive: (upload: BrandUpload) => Promise<BrandFile>,
): void {
  app.post(path, async (request, reply) => {
    const user = await dependencies.sessionGuard.scriptedMember(request);
    if (user === undefined) throw new AppError('missing_api_key', 'Your session has ended. Sign in again.');
    if (!may(user.accountRole, 'develop')) {
      const detail = "Your role in this account doesn't allow this. Ask an owner of the account.";
      throw new AppError('role_not_allowed', detail);
    }
    const caller = await callerOf(dependencies, user);
    const { id } = await receive({ caller, actor: `user:${user.id}`, request, reply });
    return await reply.code(201).headers(PRIVATE_HEADERS).send({ id });
  });
}
