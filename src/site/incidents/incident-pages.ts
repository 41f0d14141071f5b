// Pages for operators to report incidents, add updates and end them.

import type { FastifyReply } from 'fastify';
import { AppError } from '../../shared/errors.ts';
import { INCIDENT_IMPACTS, type Incident, type IncidentImpact } from '../../service/store/incidents/incidents.ts';
import type { Store } from '../../service/store/store.ts';
import { field, time } from '../account/fields.ts';
import { form, seeOther, sendPrivate } from '../account/frame.ts';
import { idOf, type SignedInRoutes } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { FormFields } from '../identity/form-fields.ts';
import type { SignedInVisit } from '../identity/session-guard.ts';
import type { Site } from '../page.ts';
import { entryList } from '../tables.ts';
import { HISTORY_DAYS, IMPACT_LABELS, incidentArticle } from './incident-views.ts';

export interface IncidentPagesDependencies {
  readonly site: Site;
  readonly store: Pick<Store, 'incidents'>;
}

interface Typed {
  readonly title: string;
  readonly body: string;
  readonly impact: IncidentImpact;
  readonly titleFault?: string | undefined;
  readonly bodyFault?: string | undefined;
}

const INCIDENTS_PATH = '/operator/incidents';
const MAX_TITLE = 120;
const MAX_BODY = 2_000;
const DAY_MS = 24 * 3_600_000;
const NOTHING: Typed = { title: '', body: '', impact: 'degraded' };
const IMPACT_HINTS: Readonly<Record<IncidentImpact, string>> = {
  maintenance: 'planned work that customers may notice',
  degraded: 'slow, or some requests fail',
  outage: 'most requests fail',
};

export function addIncidentPages(
  routes: SignedInRoutes,
  { site, store: { incidents } }: IncidentPagesDependencies,
): void {
  const showList = async (visit: SignedInVisit, typed: Typed): Promise<FastifyReply> => {
    const since = new Date(Date.now() - HISTORY_DAYS * DAY_MS);
    const body = html`<p>Customers see an open incident on every page of their dashboard, and all of the last ${HISTORY_DAYS} days on the <a href="/status">status page</a> and in its feed.</p>
<div class="columns">${reportSection(visit, typed)}
<section aria-labelledby="list"><h2 id="list">Last ${HISTORY_DAYS} days</h2>${incidentList(await incidents.since(since))}</section></div>`;
    return await sendPrivate(site, visit, { title: 'Incidents', body, status: statusOf(typed) });
  };
  const showOne = async (visit: SignedInVisit, typed: Typed): Promise<FastifyReply> => {
    const incident = await incidents.find(idOf(visit));
    if (incident === undefined) throw new AppError('not_found', "This incident doesn't exist.");
    const body = html`${incident.endedAt === null && updateSection(visit, incident, typed)}
<h2 class="visually-hidden">What was reported</h2>
${incidentArticle(incident)}
<p><a href="${INCIDENTS_PATH}">Back to all incidents</a></p>`;
    return await sendPrivate(site, visit, { title: 'Incident', body, status: statusOf(typed) });
  };

  routes.page(
    { path: INCIDENTS_PATH, permission: 'operate', tab: 'Incidents' },
    async (visit) => await showList(visit, NOTHING),
  );
  routes.action({ path: INCIDENTS_PATH, permission: 'operate' }, async (visit, fields) => {
    const typed = { ...read(fields), titleFault: faultOf(fields.text('title'), 'title', MAX_TITLE) };
    if (typed.titleFault !== undefined || typed.bodyFault !== undefined) return await showList(visit, typed);
    const id = await incidents.report(typed, `operator:${visit.user.id}`);
    return seeOther(visit, `${INCIDENTS_PATH}/${id}?done=incident-reported`);
  });
  routes.page({ path: `${INCIDENTS_PATH}/:id`, permission: 'operate' }, async (visit) => await showOne(visit, NOTHING));
  routes.action({ path: `${INCIDENTS_PATH}/:id`, permission: 'operate' }, async (visit, fields) => {
    const typed = read(fields);
    if (typed.bodyFault !== undefined) return await showOne(visit, typed);
    const isOver = fields.text('over') !== '';
    if (!(await incidents.update(idOf(visit), { body: typed.body, isOver }, `operator:${visit.user.id}`))) {
      throw new AppError('not_found', 'This incident has ended. Report another one.');
    }
    return seeOther(visit, `${INCIDENTS_PATH}/${idOf(visit)}?done=${isOver ? 'incident-ended' : 'incident-updated'}`);
  });
}

function read(fields: FormFields): Typed {
  const impact = INCIDENT_IMPACTS.find((each) => each === fields.text('impact')) ?? 'degraded';
  const body = fields.text('body').trim();
  return { title: fields.text('title').trim(), body, impact, bodyFault: faultOf(body, 'text', MAX_BODY) };
}

function faultOf(text: string, name: string, max: number): string | undefined {
  if (text.trim() === '') return `Enter a ${name}.`;
  return text.length > max ? `Shorten the ${name} to ${max} characters; it has ${text.length}.` : undefined;
}

function statusOf({ titleFault, bodyFault }: Typed): number {
  return titleFault === undefined && bodyFault === undefined ? 200 : 422;
}

function reportSection(visit: SignedInVisit, typed: Typed): Html {
  return html`<section class="card" aria-labelledby="report"><h2 id="report">Report an incident</h2>
${form(
  visit,
  INCIDENTS_PATH,
  html`${field({ name: 'title', label: 'Title', value: typed.title, autocomplete: 'off', maxLength: MAX_TITLE, fault: typed.titleFault, hint: 'What customers notice, such as “Videos take longer than usual”.' })}
<fieldset class="choices"><legend>Impact</legend>
${INCIDENT_IMPACTS.map(
  (impact) =>
    html`<label><input type="radio" name="impact" value="${impact}"${impact === typed.impact && html` checked`}> ${IMPACT_LABELS[impact]}: ${IMPACT_HINTS[impact]}</label>\n`,
)}</fieldset>
${bodyField(typed, 'What is known, and what you do about it')}
<p class="actions"><button class="button" type="submit">Report incident</button></p>`,
  'stacked',
)}
</section>`;
}

function updateSection(visit: SignedInVisit, { id }: Incident, typed: Typed): Html {
  return html`<section class="card" aria-labelledby="update"><h2 id="update">Add an update</h2>
${form(
  visit,
  `${INCIDENTS_PATH}/${id}`,
  html`${bodyField(typed, 'Text')}
<p class="actions"><button class="button" type="submit">Add update</button>
<button class="button quiet" type="submit" name="over" value="yes">Add update and end the incident</button></p>`,
  'stacked',
)}
</section>`;
}

function bodyField({ body, bodyFault }: Typed, label: string): Html {
  const fault = bodyFault !== undefined && html` aria-invalid="true" aria-describedby="body-fault" autofocus`;
  return html`<div class="field"><label for="body">${label}</label>
<textarea id="body" name="body" rows="4" maxlength="${MAX_BODY}" required${fault}>${body}</textarea>
${bodyFault !== undefined && html`<p class="fault" id="body-fault">${bodyFault}</p>`}</div>`;
}

function incidentList(list: readonly Incident[]): Html {
  if (list.length === 0) return html`<p>No incidents.</p>`;
  return entryList(
    'Incidents',
    [
      { label: 'Title', place: 'lead', isName: true },
      { label: 'Impact', place: 'below' },
      { label: 'Status', place: 'end' },
      { label: 'Started (UTC)', place: 'below-end' },
    ],
    list.map(({ id, title, impact, startedAt, endedAt }) => ({
      href: `${INCIDENTS_PATH}/${id}`,
      cells: [
        title,
        IMPACT_LABELS[impact],
        endedAt === null ? html`<span class="state warn">open</span>` : html`<span class="state good">ended</span>`,
        time(startedAt),
      ],
    })),
  );
}
