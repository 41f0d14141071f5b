// All resources opened so far, closed in reverse order, because a resource may use the ones opened before it. A start
// that fails halfway leaves nothing running, so the process can exit.

import { messageOf } from '../shared/error-facts.ts';

interface Closable {
  close(): Promise<void>;
}

export class ResourceStack {
  readonly #resources: Closable[] = [];

  add<Resource extends Closable>(resource: Resource): Resource {
    this.#resources.push(resource);
    return resource;
  }

  /** Closes every resource, even when closing one fails. Throws the only failure, or all of them in an `AggregateError`. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let resource = this.#resources.pop(); resource; resource = this.#resources.pop()) {
      try {
        await resource.close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 1) throw new AggregateError(failures, 'several resources could not be closed');
    if (failures.length === 1) throw failures[0];
  }
}

/** Opens something that consists of several resources. If it fails halfway, closes those that were opened. */
export async function openAll<Result>(open: (resources: ResourceStack) => Promise<Result>): Promise<Result> {
  const resources = new ResourceStack();
  try {
    return await open(resources);
  } catch (error) {
    // This is reported separately, because it must not hide why the start failed.
    await resources.close().catch((closeError: unknown) => {
      process.emitWarning(`closing after a failed start: ${messageOf(closeError)}`);
    });
    throw error;
  }
}
