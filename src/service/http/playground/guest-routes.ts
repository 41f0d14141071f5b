// Renders for the playground, without a key and without credits: watermarked, of a limited size and limited per
// address. One short clip per address and day is free.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  FREE_CLIP_SECONDS,
  FREE_CLIP_SIDE,
  GUEST_CAPTIONS_BYTES,
  GUEST_MAX_SIDE,
  MAX_CLIP_BYTES,
  PREVIEWS_PER_RENDER,
} from '../../account/guest.ts';
import type { PlanLimits } from '../../account/plans.ts';
import { type Lease, type Renderer, withLease } from '../../dispatch/renderer.ts';
import { AppError } from '../../../shared/errors.ts';
import type { LazyDirectory } from '../../../engine/media/work-area.ts';
import { type AssetKind, KIND_OF_FORMAT } from '../../../engine/media/sniff.ts';
import { composeRecipe } from '../../../engine/render/compose.ts';
import type { RenderFacts } from '../../../engine/render/render.ts';
import type { Limits } from '../../store/limits.ts';
import { AddressLimit } from '../../limits/address-limit.ts';
import { LocalLimits } from '../../limits/local-limits.ts';
import type { OverlayDependencies } from '../overlay/overlay-route.ts';
import type { ReceivedForm } from '../../renders/received-form.ts';
import { parseUpload } from '../../renders/parse.ts';
import { receive, type Upload } from '../overlay/receive.ts';
import { createRequestSignal, type RequestSignal } from '../transport/request-signal.ts';
import { recordOf } from '../transport/request-record.ts';
import type { RouteGroup } from '../route-group.ts';
import { FREE, GUESTS, performRender } from '../../renders/perform-render.ts';
import type { FreeClips } from '../../limits/free-clips.ts';
import {
  assertPreviewSize,
  type GuestOrder,
  pagesOf,
  type PreviewDependencies,
  previewOrder,
  stillOrder,
} from './previews.ts';
import type { RenderProgress } from './render-progress.ts';

/** A preview has no asset. This leaves room for subtitles, and for the clear error about an asset. */
const MAX_PREVIEW_BYTES = 256 * 1024;

export interface GuestDependencies
  extends PreviewDependencies,
    Pick<OverlayDependencies, 'workArea' | 'uploads' | 'sender' | 'deadlineMs' | 'shutdown'> {
  readonly renderer: Pick<Renderer, 'open'>;
  readonly previewsPerMinute: number;
  readonly rendersPerMinute: number;
  readonly rendersPerDay: number;
  /** Limits that all servers share. */
  readonly addressLimits: Pick<Limits, 'take'>;
  readonly clips: FreeClips;
  readonly progress: RenderProgress;
}

interface GuestLimits {
  readonly minute: AddressLimit;
  readonly day: AddressLimit;
}

/** One request of a visitor. */
interface GuestRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly directory: LazyDirectory;
  readonly lifetime: RequestSignal;
}

/** Responds to a request whose fields and file have arrived. */
type Respond = (guest: GuestRequest, upload: Upload, lease: Lease) => Promise<void>;

export function guestRoutes(dependencies: GuestDependencies): RouteGroup {
  const { addressLimits, rendersPerDay, progress, limits } = dependencies;
  const ofMinute = (count: number): AddressLimit => new AddressLimit(new LocalLimits(), 'requests', count, 'minute');
  const previews: GuestLimits = {
    minute: ofMinute(dependencies.previewsPerMinute),
    day: new AddressLimit(addressLimits, 'previews', rendersPerDay * PREVIEWS_PER_RENDER, 'day'),
  };
  const renders: GuestLimits = {
    minute: ofMinute(dependencies.rendersPerMinute),
    day: new AddressLimit(addressLimits, 'renders', rendersPerDay, 'day'),
  };
  const { imageBytes } = limits;
  const videoBytes = dependencies.clips.isOffered ? Math.min(limits.videoBytes, MAX_CLIP_BYTES) : imageBytes;
  const limited = ({ minute, day }: GuestLimits, maxBytes: MaxBytes, respond: Respond) => ({
    onRequest: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      assertOwnPage(request);
      await minute.take(request.ip);
      await day.take(request.ip);
      progress.track(request, reply);
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) =>
      await handle(dependencies, request, reply, { maxBytes, respond }),
  });
  const previewBytes = { imageBytes: MAX_PREVIEW_BYTES, videoBytes: MAX_PREVIEW_BYTES };
  const stills: GuestLimits = {
    minute: ofMinute(dependencies.rendersPerMinute),
    day: new AddressLimit(addressLimits, 'opened files', rendersPerDay, 'day'),
  };
  const stillBytes = { imageBytes, videoBytes: Math.min(limits.videoBytes, MAX_CLIP_BYTES) };
  return {
    register: (app) => {
      app.post('/playground/overlay', limited(previews, previewBytes, previewing(dependencies)));
      app.post(
        '/playground/pages',
        limited(previews, previewBytes, async (guest, upload, lease) => {
          await guest.reply.send(await pagesOf(dependencies, guest, upload, lease));
        }),
      );
      app.post('/playground/still', limited(stills, stillBytes, opening(dependencies)));
      app.post(
        '/playground/render',
        limited(renders, { imageBytes, videoBytes }, async (guest, upload, lease) => {
          const order = await renderOrder(dependencies, guest, upload);
          await renderForGuest(dependencies, guest, { upload, lease, order });
        }),
      );
    },
  };
}

function previewing(dependencies: GuestDependencies): Respond {
  return async (guest, upload, lease) => {
    const { isMarked, ...order } = await previewOrder(dependencies, guest.request, upload);
    if (!isMarked) guest.reply.header('x-unmarked', 'true');
    await renderForGuest(dependencies, guest, { upload, lease, order });
  };
}

/** The page reads the facts from a header, because the body is the image. */
function opening(dependencies: GuestDependencies): Respond {
  return async (guest, upload, lease) => {
    const { facts, ...order } = stillOrder(dependencies, upload);
    const beforeDelivery = (): void => {
      guest.reply.header('x-media', JSON.stringify(facts()));
    };
    await renderForGuest(dependencies, guest, { upload, lease, order, beforeDelivery });
  };
}

type MaxBytes = Pick<PlanLimits, 'imageBytes' | 'videoBytes'>;

async function handle(
  dependencies: GuestDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { maxBytes, respond }: { readonly maxBytes: MaxBytes; readonly respond: Respond },
): Promise<FastifyReply> {
  const { workArea, shutdown, deadlineMs } = dependencies;
  const lifetime = createRequestSignal(reply.raw, shutdown);
  const directory = workArea.lazyDirectory(randomUUID());
  const guest = { request, reply, directory, lifetime };
  const lease = {
    account: GUESTS,
    class: 'guest',
    budgetMs: deadlineMs,
    signal: lifetime.signal,
    renderId: request.id,
  } as const;
  try {
    await withLease(dependencies.renderer, lease, async (opened) => {
      const onKind = (kind: AssetKind): void => opened.choose(kind);
      const upload = await receive(dependencies, guest, maxBytes, { hash: false, onKind });
      lifetime.startDeadline(deadlineMs[kindOf(upload)]);
      await respond(guest, { ...upload, maxCaptionsBytes: GUEST_CAPTIONS_BYTES }, opened);
    });
    return reply;
  } finally {
    lifetime.release();
    await directory.remove();
  }
}

interface GuestRender {
  readonly upload: Upload;
  readonly lease: Lease;
  readonly order: GuestOrder;
  /** Called when the file is rendered. */
  readonly beforeDelivery?: () => void;
}

async function renderForGuest(
  { sender }: GuestDependencies,
  { request, reply, directory, lifetime: { signal } }: GuestRequest,
  { upload, lease, order, beforeDelivery }: GuestRender,
): Promise<void> {
  await upload.asset?.save?.();
  await performRender({
    ...order,
    renderId: request.id,
    lease,
    directory,
    signal,
    receiveMs: upload.receiveMs,
    onProgress: (fraction) => {
      recordOf(request).progress = fraction;
    },
    deliver: async ({ file, bytes, recipe, facts, headers }) => {
      upload.disk.addResult(bytes);
      beforeDelivery?.();
      if (recipe.kind !== 'video') reply.header('x-bar-rows', barRows(facts));
      await sender.send(reply, file, headers);
    },
  });
}

/** A video counts as the day's clip once nothing prevents its render. */
async function renderOrder(
  { limits, clips }: GuestDependencies,
  { request }: GuestRequest,
  upload: Upload,
): Promise<GuestOrder> {
  if (kindOf(upload) === 'video' && !clips.isOffered) throw videosNeedKey();
  const parsed = await parseUpload(upload);
  const { asset, overlays, output } = parsed;
  if (output.clip) throw videosNeedKey();
  // The asset is an animation, which the requested format turns into a video.
  if (asset?.format === 'animation') throw videosNeedKey();
  const guestLimits = asset?.kind === 'video' ? clipLimits(limits) : limits;
  return {
    source: parsed,
    limits: guestLimits,
    compose: (base) => {
      if (base.kind === 'canvas') assertPreviewSize(base);
      return composeRecipe(base, overlays, guestLimits, { output, watermark: true, maxSide: GUEST_MAX_SIDE });
    },
    reserve: async (_base, recipe) => {
      if (recipe.kind === 'video' || recipe.kind === 'cover') await clips.take(request.ip);
      return FREE;
    },
  };
}

function clipLimits(limits: PlanLimits): PlanLimits {
  const { videoSeconds, videoSide } = limits;
  return {
    ...limits,
    videoSeconds: Math.min(videoSeconds, FREE_CLIP_SECONDS),
    videoSide: Math.min(videoSide, FREE_CLIP_SIDE),
  };
}

function kindOf({ asset }: ReceivedForm): 'image' | 'video' {
  return asset?.format === undefined ? 'image' : KIND_OF_FORMAT[asset.format];
}

/** Returns `top+height` of each bar, so that the page can place its handles. */
function barRows({ bars }: RenderFacts): string {
  return bars.map(({ top, height }) => `${top}+${height}`).join(', ');
}

/** Another site must not use up its visitors' allowance. Only browsers send the header. */
function assertOwnPage({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new AppError('missing_api_key', 'The playground only serves its own page. Use the API with a key instead.');
}

function videosNeedKey(): AppError {
  return new AppError('missing_api_key', 'Videos need an API key. Send them to /v1/overlay.');
}
