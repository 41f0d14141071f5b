// Every component of the site on one page. No page links to it; tests photograph it in light and dark mode.

import { field, problem } from './account/fields.ts';
import { creditMeter, usageChart } from './account/usage-chart.ts';
import { type Html, html } from './html.ts';
import type { Page } from './page.ts';
import { codeBlock, snippetTabs } from './snippet-tabs.ts';
import { historyBars } from './incidents/incident-views.ts';
import { table } from './tables.ts';
import { tiles } from './tiles.ts';

const DAYS = [
  { day: '2026-01-01', delivered: 12, test: 4, refused: 0, failed: 0 },
  { day: '2026-01-02', delivered: 31, test: 0, refused: 6, failed: 1 },
  { day: '2026-01-03', delivered: 18, test: 9, refused: 2, failed: 0 },
];
const CREDITS = 100;
const METERS = [42, 84, 97];
const LANGUAGES = [
  { id: 'curl', label: 'curl', code: "curl https://captions.example/v1/overlay \\\n  -F 'text=Golden hour'" },
  { id: 'python', label: 'Python', code: "import requests  # a comment\nprint('Golden hour')" },
] as const;

export function componentsPage(): Page {
  return {
    title: 'Components - Storybar',
    description: 'Every component of the site.',
    path: '/dev/components',
    styles: ['front.css', 'docs.css', 'account.css'],
    robots: 'noindex',
    body: html`<section class="narrow">
<h1 class="bar">Components</h1>
${messages()}${forms()}${data()}${code()}
</section>`,
  };
}

function messages(): Html {
  return html`<h2>Messages and states</h2>
${problem('The request has 3 errors.')}
<p class="caution">You have used 80 % of your credits.</p>
<p class="done">Your first request arrived.</p>
<p class="note">Changes saved.</p>
<p>Text with a <a href="#main">link</a>, <code>code</code>, <strong>strong text</strong> and <span class="small">small text</span>.</p>
<p><span class="state good">200</span> <span class="state warn">429</span> <span class="state bad">500</span></p>`;
}

function forms(): Html {
  return html`<h2>Buttons and fields</h2>
<p class="actions"><button class="button" type="button">Primary</button>
<button class="button quiet" type="button">Quiet</button>
<button class="button danger" type="button">Delete</button>
<button class="button" type="button" disabled>Disabled</button>
<button class="link" type="button">Link</button></p>
${field({ name: 'name', label: 'Name', value: 'Production', autocomplete: 'off', hint: 'For example, “Production”.' })}
${field({ name: 'email', label: 'Email', type: 'email', value: 'ann@', autocomplete: 'off', fault: 'Enter a valid email address.' })}
<fieldset class="choices"><legend>Mode</legend>
<label><input type="radio" name="mode" checked> Live: uses credits</label>
<label><input type="radio" name="mode"> Test: free, watermarked</label></fieldset>
<details class="twice" open><summary>Revoke this key</summary><p>This can’t be undone.</p></details>`;
}

function data(): Html {
  return html`<h2>Figures and tables</h2>
${METERS.map((used) => html`<p class="figure"><strong>${used}</strong> of ${CREDITS} credits used</p>${creditMeter(used, CREDITS)}`)}
${tiles([
  { label: 'Renders', value: '9,848', trend: [3, 5, 4, 8, 9, 7], note: '12 % more than in the week before' },
  { label: 'Server errors', value: '0.2 %', note: '18 of 9,866' },
])}
<div class="columns"><div class="card"><h2>Card</h2><p>One task.</p></div><div class="card"><h2>Card</h2><p>Another task.</p></div></div>
${historyBars([
  { day: '2026-01-01', state: 'unknown' },
  { day: '2026-01-02', state: 'none' },
  { day: '2026-01-03', state: 'maintenance' },
  { day: '2026-01-04', state: 'degraded' },
  { day: '2026-01-05', state: 'outage' },
])}
${usageChart(DAYS)}
${table(
  'Keys',
  ['Name', 'Key', 'Status'],
  [
    ['Production', html`<code>sb_live_…x1Qe</code>`, html`<span class="state good">active</span>`],
    ['Old shop', html`<code>sb_live_…9aLk</code>`, html`<span class="state bad">revoked</span>`],
  ],
)}`;
}

function code(): Html {
  return html`<h2>Code</h2>
${snippetTabs('components', 'Code in several languages', LANGUAGES)}
${codeBlock('{"text": "Golden hour", "position": 66}', 'JSON')}`;
}
