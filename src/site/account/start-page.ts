// The page of the first request: the code with the new key filled in, a photo to send, and a status that turns green by itself.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { modeOfKey } from '../../service/account/api-key.ts';
import { requestBaseUrl } from '../../service/http/transport/request-base-url.ts';
import type { Store } from '../../service/store/store.ts';
import { type Snippet, snippetsFor } from '../browser/snippets.ts';
import { type Html, html } from '../html.ts';
import type { ShownKey } from '../identity/new-key-cookie.ts';
import type { SessionGuard, SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { snippetTabs } from '../snippet-tabs.ts';
import { form, PRIVATE_HEADERS, sendPrivate } from './frame.ts';
import { keyBlock } from './key-block.ts';
import { outcomeLabel } from './outcomes.ts';
import type { SignedInRoutes } from './signed-in-routes.ts';

export interface StartDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'usage'>;
  readonly sessionGuard: SessionGuard;
  /** Base URL of the site. If empty, it is taken from each request. */
  readonly publicUrl: string;
}

/** The content below the code. */
interface FirstRequest {
  readonly state: 'waiting' | 'rejected' | 'delivered';
  readonly text: string;
}

export const START_PATH = '/dashboard/start';
export const SAMPLE_PHOTO_PATH = '/samples/photo.jpg';
const KEY_PLACEHOLDER = 'sb_test_...';

export function addStartPage(
  routes: SignedInRoutes,
  { site, store, sessionGuard, publicUrl }: StartDependencies,
): void {
  const baseUrlOf = (request: FastifyRequest): string => publicUrl || (requestBaseUrl(request) ?? '');
  routes.page({ path: START_PATH, permission: 'develop' }, async (visit) => {
    const newKey = sessionGuard.newKey(visit.request);
    const body = html`${liveAccessNote(visit)}
${keySection(newKey)}
${codeSection(baseUrlOf(visit.request), newKey?.key ?? KEY_PLACEHOLDER)}
${statusSection(await firstRequest(store, visit))}`;
    const page = { title: 'Your first request', body, modules: ['first-request.js'] };
    return await sendPrivate(site, visit, page);
  });
  routes.page({ path: `${START_PATH}/status`, permission: 'develop' }, async (visit): Promise<FastifyReply> => {
    return visit.reply.headers(PRIVATE_HEADERS).send(await firstRequest(store, visit));
  });
}

/**
 * Explains what is missing for live keys: a confirmed address, or the operator's approval. Returns undefined when
 * nothing is.
 */
export function liveAccessNote(visit: SignedInVisit): Html | undefined {
  const { unconfirmedEmail } = visit.user;
  if (unconfirmedEmail === null) return visit.awaitsApproval ? approvalNote(visit) : undefined;
  return html`<div class="caution">
<p>We’ve sent a link to <strong>${unconfirmedEmail}</strong>. Your test key works already. Confirm your address to create live keys. Accounts without a confirmed address are deleted after 7 days.</p>
${form(visit, '/dashboard/confirmation', html`<button class="link" type="submit">Send the email again</button>`)}
</div>`;
}

function approvalNote({ user }: SignedInVisit): Html {
  return html`<div class="caution">
<p>An operator has yet to approve this account. Test keys work already, without using credits. To use live keys, ask the operator of this service to approve the account of <strong>${user.email}</strong>.</p>
</div>`;
}

function keySection(newKey: ShownKey | undefined): Html {
  if (newKey === undefined) {
    return html`<p>Your key is no longer shown. <a href="/dashboard/keys">Create another test key</a> if you didn’t copy it.</p>`;
  }
  return html`<p>This is your ${modeOfKey(newKey.key)} key <strong>“${newKey.name}”</strong>. ${keyCost(newKey)} Copy it now: this page shows it for an hour.</p>
${keyBlock(newKey.key, `Your ${modeOfKey(newKey.key)} key`)}`;
}

/** What a render with the key costs. */
export function keyCost({ key }: ShownKey): string {
  return modeOfKey(key) === 'test'
    ? 'Renders are free and have a watermark.'
    : 'Each render uses credits of your plan and has no watermark.';
}

/** A first request with the key filled in. */
export function codeSection(baseUrl: string, key: string): Html {
  const snippets = snippetsFor({
    baseUrl,
    key,
    asset: 'photo.jpg',
    overlays: [{ text: 'Hello from my first request 👋' }],
    output: 'captioned.png',
  });
  const withPhoto = (snippet: Snippet): Snippet =>
    snippet.id === 'curl'
      ? { ...snippet, code: `curl -so photo.jpg ${baseUrl}${SAMPLE_PHOTO_PATH}\n${snippet.code}` }
      : snippet;
  return html`<section aria-labelledby="send">
<h2 id="send">Send a photo</h2>
<p>Run this in a folder with <code>photo.jpg</code>. Use a photo of yours, or <a href="${SAMPLE_PHOTO_PATH}" download="photo.jpg">download a sample</a>.</p>
${snippetTabs('first', 'Your first request in several languages', snippets.map(withPhoto))}
</section>`;
}

function statusSection({ state, text }: FirstRequest): Html {
  return html`<section aria-labelledby="status">
<h2 id="status">Status</h2>
<p class="${state === 'delivered' ? 'done' : 'note'}" role="status" data-first-request="${START_PATH}/status" data-state="${state}">${text}</p>
<noscript><p class="small">Reload this page after you have sent the request.</p></noscript>
<p class="actions"><a class="button quiet" href="/dashboard">Go to the dashboard</a> <a class="button quiet" href="/docs">Read the API reference</a></p>
</section>`;
}

async function firstRequest({ usage }: Pick<Store, 'usage'>, { user }: SignedInVisit): Promise<FirstRequest> {
  const [latest] = await usage.latest(user.accountId, 1);
  if (latest?.state === 'settled' && latest.outcome === 'delivered') {
    const duration = latest.durationMs === null ? '' : ` in ${latest.durationMs} ms`;
    return {
      state: 'delivered',
      text: `It works. Your ${latest.kind} was rendered${duration}. Render ID ${latest.id}`,
    };
  }
  const today = new Date().toISOString().slice(0, 10);
  const rejected = (await usage.days(user.accountId, today, today)).findLast(({ outcome }) => outcome !== 'delivered');
  if (rejected !== undefined) {
    const reason = outcomeLabel(rejected.outcome);
    return { state: 'rejected', text: `Your request arrived but was rejected: ${reason}. The response body says why.` };
  }
  return { state: 'waiting', text: 'Waiting for your first request…' };
}
