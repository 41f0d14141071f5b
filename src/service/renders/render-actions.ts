// Canceling and deleting stored renders, for the API and for the pages of the account.

import type { ObjectStorage } from '../storage/object-storage.ts';
import type { RenderRecord, RenderScope } from '../store/renders/render.ts';
import type { Renders } from '../store/renders/renders.ts';
import type { RenderRunner } from './render-runner.ts';

export interface ActionDependencies {
  readonly renders: Pick<Renders, 'find' | 'cancel' | 'remove'>;
  readonly storage: Pick<ObjectStorage, 'delete'>;
  readonly runner: Pick<RenderRunner, 'cancel'>;
}

/** Cancels the render unless it has ended, and returns it. Returns undefined when there is none in scope. */
export async function cancelRender(
  { renders, runner }: Pick<ActionDependencies, 'renders' | 'runner'>,
  scope: RenderScope,
  id: string,
): Promise<RenderRecord | undefined> {
  const render = await renders.cancel(scope, id);
  if (render?.status === 'canceled') runner.cancel(id);
  return render;
}

/** Deletes the render with its objects. Another request may have deleted it already. */
export async function deleteEnded(
  { renders, storage }: Pick<ActionDependencies, 'renders' | 'storage'>,
  scope: RenderScope,
  { id, output, asset, target }: RenderRecord,
): Promise<void> {
  for (const name of [output?.name, asset?.name, target]) if (name !== undefined) await storage.delete(name);
  await renders.remove(scope, id);
}

/** The actions of a signed-in user on the account's renders. */
export class RenderActions {
  readonly #dependencies: ActionDependencies;

  constructor(dependencies: ActionDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns undefined when there is no such render. It may have ended before it could be canceled. */
  async cancel(accountId: string, id: string): Promise<RenderRecord | undefined> {
    return await cancelRender(this.#dependencies, { accountId }, id);
  }

  /** Returns false when there is no such render, or it hasn't ended. */
  async remove(accountId: string, id: string): Promise<boolean> {
    const render = await this.#dependencies.renders.find({ accountId }, id);
    if (render?.finishedAt === undefined) return false;
    await deleteEnded(this.#dependencies, { accountId }, render);
    return true;
  }
}
