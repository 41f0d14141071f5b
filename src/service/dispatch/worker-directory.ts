// The directory of one worker, which is all that it shares with the server. The server stages the files of a task in it
// and collects the output. A worker therefore never sees the files of another render, and the server never follows a
// link that a worker may have left. Links and renames are synchronous, because the thread pool takes many times as
// long.

import { constants, linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { rethrowAsStorageError } from '../../engine/media/work-area.ts';
import type { RenderJob } from './renderer.ts';
import type { WorkerTask } from './tasks.ts';
import { hasCode } from '../../shared/error-facts.ts';

export interface StagedTask<Task extends WorkerTask> {
  /** The task with paths as the worker sees them. */
  readonly task: Task;
  /** Moves the output to its destination. Called after success. */
  collect(): Promise<void>;
  /** Removes every file of the task. Always called. */
  cleanUp(): Promise<void>;
}

export class WorkerDirectory {
  readonly #outside: string;
  readonly #inside: string;
  #staged = 0;

  /** The same directory, as the server and as the worker see it. */
  constructor(outside: string, inside: string) {
    this.#outside = outside;
    this.#inside = inside;
  }

  async stage<Task extends WorkerTask>(task: Task): Promise<StagedTask<Task>> {
    this.#staged += 1;
    // Every task gets new names, because a decoder may cache files by name.
    const names: FileNames = {
      asset: `asset-${this.#staged}`,
      attachment: `attachment-${this.#staged}`,
      output: `output-${this.#staged}`,
      file: `file-${this.#staged}`,
    };
    const files = filesOf(task);
    const remaining = new Set<string>();
    const bringIn = async (from: string, name: string, put = linkOrCopy): Promise<void> => {
      await put(from, path.join(this.#outside, name)).catch(rethrowAsStorageError);
      remaining.add(name);
    };
    if (files.asset) await bringIn(files.asset.path, names.asset);
    if (files.attachment !== undefined) await bringIn(files.attachment, names.attachment);
    for (const [index, file] of (files.files ?? []).entries()) await bringIn(file.path, `${names.file}-${index}`, copy);
    if (files.output !== undefined) remaining.add(names.output);
    return {
      task: this.#translate(task, names),
      collect: async () => {
        if (files.output === undefined) return;
        moveOut(path.join(this.#outside, names.output), files.output);
        remaining.delete(names.output);
      },
      cleanUp: async () => {
        for (const name of remaining) remove(path.join(this.#outside, name));
      },
    };
  }

  /**
   * Call this only after the worker has exited, because a live worker could swap a directory for a link while it is
   * being walked.
   */
  async remove(): Promise<void> {
    await rm(this.#outside, { recursive: true, force: true, maxRetries: 3 });
  }

  #translate<Task extends WorkerTask>(task: Task, names: FileNames): Task {
    const inside = (name: string): string => path.join(this.#inside, name);
    if (task.type === 'probe') return { ...task, asset: { ...task.asset, path: inside(names.asset) } };
    const { job } = task;
    return {
      ...task,
      job: {
        ...job,
        output: inside(names.output),
        asset: job.asset && { ...job.asset, path: inside(names.asset) },
        ...(job.attachment !== undefined && { attachment: inside(names.attachment) }),
        ...(job.files && {
          files: job.files.map((file, index) => ({ ...file, path: inside(`${names.file}-${index}`) })),
        }),
      },
    };
  }
}

type FileNames = Readonly<Record<'asset' | 'attachment' | 'output' | 'file', string>>;

/** Returns the paths of a task's files, as the server sees them. */
function filesOf(
  task: WorkerTask,
): Pick<RenderJob, 'asset' | 'attachment' | 'files'> & { readonly output: string | undefined } {
  return task.type === 'probe' ? { asset: task.asset, output: undefined } : task.job;
}

/** A hard link costs nothing. File systems without them get a copy. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    linkSync(from, to);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOSPC', 'EDQUOT')) throw error;
    await copy(from, to);
  }
}

/** For a file that other renders use, too. Through a link, a worker could change it. */
async function copy(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

function moveOut(from: string, to: string): void {
  renameSync(from, to);
  // This is checked only here, where the worker can no longer swap the file. A link could make the server send any of
  // its files.
  if (lstatSync(to).isFile()) return;
  throw new Error("the output of a render worker isn't a regular file");
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
