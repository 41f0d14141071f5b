// Receives the file of a logo or font from a page of the dashboard.

import type { BrandUpload } from '../../service/http/brand-upload.ts';
import type { BrandFile } from '../../service/store/brand/brand-files.ts';
import { PRIVATE_HEADERS } from '../account/frame.ts';
import type { SignedInRoutes } from '../account/signed-in-routes.ts';
import { callerOf, type PlaygroundAccountDependencies } from '../playground/playground-account.ts';

export type UploadDependencies = Pick<PlaygroundAccountDependencies, 'store' | 'plans'>;

export function addUpload(
  routes: SignedInRoutes,
  path: string,
  dependencies: UploadDependencies,
  receive: (upload: BrandUpload) => Promise<BrandFile>,
): void {
  routes.upload({ path, permission: 'develop' }, async ({ user, request, reply }) => {
    const caller = await callerOf(dependencies, user);
    const { id } = await receive({ caller, actor: `user:${user.id}`, request, reply });
    return await reply.code(201).headers(PRIVATE_HEADERS).send({ id });
  });
}
