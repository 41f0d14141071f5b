// The directory of one worker, all it shares with the server. What a task needs is put in under a name of its own, and
// what it made is taken out; so a worker never sees the files of another render, and the server never follows a link that
// a worker may have left. Names are given and taken in place: a turn through the thread pool takes many times as long.

import { constants, linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { rethrowAsStorageError } from '../media/work-area.ts';
import type { WorkerTask } from './protocol.ts';
import type { RenderJob } from './renderer.ts';

export interface StagedTask<Of extends WorkerTask> {
  /** The task in the worker's own terms. */
  readonly task: Of;
  /** After success: the finished file goes where the task wants it. */
  collect(): Promise<void>;
  /** Always: nothing of the task remains. */
  cleanUp(): Promise<void>;
}

export class WorkerDirectory {
  readonly #outside: string;
  readonly #inside: string;
  #staged = 0;

  /** The same directory, as the server and as the worker call it. */
  constructor(outside: string, inside: string) {
    this.#outside = outside;
    this.#inside = inside;
  }

  async stage<Of extends WorkerTask>(task: Of): Promise<StagedTask<Of>> {
    this.#staged += 1;
    // Never a name twice: a decoder may remember what it has read by its name.
    const names = {
      asset: `asset-${this.#staged}`,
      segments: `segments-${this.#staged}`,
      output: `output-${this.#staged}`,
    };
    const { asset, segments, output } = names;
    const wanted: Wanted = task.type === 'probe' ? { asset: task.asset, output: undefined } : task.job;
    const remains = new Set<string>();
    const bringIn = async (from: string, name: string): Promise<void> => {
      await linkOrCopy(from, path.join(this.#outside, name)).catch(rethrowAsStorageError);
      remains.add(name);
    };
    if (wanted.asset) await bringIn(wanted.asset.path, asset);
    if (wanted.segments !== undefined) await bringIn(wanted.segments, segments);
    if (wanted.output !== undefined) remains.add(output);
    return {
      task: this.#translated(task, names),
      collect: async () => {
        if (wanted.output === undefined) return;
        takeOut(path.join(this.#outside, output), wanted.output);
        remains.delete(output);
      },
      cleanUp: async () => {
        for (const name of remains) remove(path.join(this.#outside, name));
      },
    };
  }

  /** When its worker is gone: walking a tree that somebody can still change would follow him anywhere. */
  async remove(): Promise<void> {
    await rm(this.#outside, { recursive: true, force: true, maxRetries: 3 });
  }

  #translated<Of extends WorkerTask>(task: Of, names: Names): Of {
    const inside = (name: string): string => path.join(this.#inside, name);
    if (task.type === 'probe') return { ...task, asset: { ...task.asset, path: inside(names.asset) } };
    const { job } = task;
    const hasSegments = 'segments' in job && job.segments !== undefined;
    return {
      ...task,
      job: {
        ...job,
        output: inside(names.output),
        asset: job.asset && { ...job.asset, path: inside(names.asset) },
        ...(hasSegments && { segments: inside(names.segments) }),
      },
    };
  }
}

type Wanted = Pick<RenderJob, 'asset' | 'segments'> & { readonly output: string | undefined };
type Names = Readonly<Record<'asset' | 'segments' | 'output', string>>;

/** A second name costs nothing; where the disk has no such thing, a copy. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    linkSync(from, to);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOSPC', 'EDQUOT')) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
}

function takeOut(from: string, to: string): void {
  renameSync(from, to);
  // Looked at only here, where the worker can no longer swap it. A link would make us send any file of the server.
  if (lstatSync(to).isFile()) return;
  throw new Error('a render worker left something that is no plain file');
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
