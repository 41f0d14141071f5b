// Receives the file of a logo or font, from a key or from a page of the dashboard. The upload is multipart/form-data with the file
// in `asset`.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../account/caller.ts';
import { pointerTo } from '../../engine/caption/quote.ts';
import { type FieldFault, invalidFields } from '../../shared/errors.ts';
import { assertRate } from '../limits/assert-rate.ts';
import type { ReceivedFile } from '../../engine/media/receive-asset.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import type { LazyDirectory, WorkArea } from '../../engine/media/work-area.ts';
import type { ReceivedForm } from '../renders/received-form.ts';
import type { UploadBudget } from '../renders/upload-budget.ts';
import type { Actor } from '../store/audit.ts';
import type { Limits } from '../store/limits.ts';
import { receive, type ReceiveOptions } from './overlay/receive.ts';
import { createRequestSignal } from './transport/request-signal.ts';

export interface BrandUploadDependencies {
  readonly workArea: WorkArea;
  readonly uploads: UploadBudget;
  readonly rates: Pick<Limits, 'take'>;
  readonly deadlineMs: Readonly<Record<AssetKind, number>>;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

/** The upload of a logo or font, by a key or by a member of the account. */
export interface BrandUpload {
  readonly caller: Caller;
  readonly actor: Actor;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface BrandUploadRules extends Pick<ReceiveOptions, 'accepts'> {
  readonly kind: 'logo' | 'font';
  readonly maxBytes: number;
  /** A field that must be `true` beside the file, and what it confirms. */
  readonly confirmation?: { readonly field: string; readonly detail: string };
}

export interface ReceivedBrandFile {
  readonly file: ReceivedFile;
  /** Removed when `use` has ended. */
  readonly directory: LazyDirectory;
  readonly signal: AbortSignal;
}

/** Of one kind and account. A worker takes up to seconds for a file, and no credits pay for it. */
const UPLOADS = { burst: 30, windowMs: 3_600_000 };

/** Lets `use` check and store the file. Its time begins when all bytes are there. */
export async function receiveBrandFile<Stored>(
  dependencies: BrandUploadDependencies,
  { caller, request, reply }: BrandUpload,
  rules: BrandUploadRules,
  use: (received: ReceivedBrandFile) => Promise<Stored>,
): Promise<Stored> {
  const { workArea, shutdown, deadlineMs, rates } = dependencies;
  const { kind, maxBytes, accepts } = rules;
  const detail = `You can upload ${UPLOADS.burst} ${kind}s per hour. Try again after \`retry-after\` seconds.`;
  await assertRate(rates, `${caller.accountId} ${kind} uploads`, UPLOADS, detail);
  const lifetime = createRequestSignal(reply.raw, shutdown);
  const directory = workArea.lazyDirectory(randomUUID());
  try {
    const limits = { imageBytes: maxBytes, videoBytes: maxBytes };
    const options = { hash: false, ...(accepts && { accepts }) };
    const form = await receive(dependencies, { request, reply, directory, lifetime }, limits, options);
    const file = fileIn(form, rules);
    await file.save?.();
    lifetime.startDeadline(deadlineMs.image);
    return await use({ file, directory, signal: lifetime.signal });
  } finally {
    lifetime.release();
    await directory.remove();
  }
}

/** The form has the file and its confirmation, and nothing else. */
function fileIn({ fields, faults: received, asset }: ReceivedForm, rules: BrandUploadRules): ReceivedFile {
  const { kind, confirmation } = rules;
  const faults: FieldFault[] = [...received];
  for (const { name } of fields) {
    if (name === confirmation?.field) continue;
    const wanted = confirmation
      ? `Send the file in asset, and ${confirmation.field}.`
      : 'Send only the file, in asset.';
    faults.push({ pointer: pointerTo(name), code: 'unknown_field', detail: `Unknown field. ${wanted}` });
  }
  const isConfirmed = fields.some(
    ({ name, value }) => name === confirmation?.field && (value === true || value === 'true'),
  );
  if (confirmation && !isConfirmed) {
    faults.push({ pointer: pointerTo(confirmation.field), code: 'required', detail: confirmation.detail });
  }
  if (asset === undefined) {
    const detail = `Send the file of the ${kind} in asset, as multipart/form-data.`;
    faults.push({ pointer: '#/asset', code: 'required', detail });
  }
  if (asset !== undefined && faults.length === 0) return asset;
  throw invalidFields(faults);
}
