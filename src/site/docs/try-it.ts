// The form of the documentation that sends a real request. It is paid for like a render in the playground: with a key,
// from the visitor's session, or free with a watermark.

import { FORMATS_OF } from '../../engine/caption/output-format.ts';
import { STYLE_PRESETS } from '../../engine/caption/style-presets.ts';
import { RESPONSE_HEADERS } from '../../service/http/reference/response-headers.ts';
import { SAMPLE_PHOTO_PATH } from '../account/start-page.ts';
import { KEY_PLACEHOLDER } from '../browser/snippets.ts';
import { TRY_IT_DEFAULTS, trySnippets } from '../browser/try-it-request.ts';
import { type Content, type Html, html } from '../html.ts';
import type { Site } from '../page.ts';
import type { PlanOffer } from '../plan-cards.ts';
import { freeSignUpPath, type GuestTerms, priceAttributes } from '../playground/price-attributes.ts';
import { snippetTabs } from '../snippet-tabs.ts';

/** The browser module of pages with the form. */
export const TRY_IT_MODULE = 'try-it.js';

const HEADERS = ['retry-after', ...Object.keys(RESPONSE_HEADERS)];

export function tryItForm(
  site: Site,
  plans: readonly PlanOffer[],
  baseUrl: string,
  limits: GuestTerms['limits'],
): Html {
  const signUpPath = freeSignUpPath(site, plans);
  return html`<div class="try-it" data-try-it data-base-url="${baseUrl}" data-sample="${SAMPLE_PHOTO_PATH}"
data-shown-headers="${HEADERS.join(' ')}" ${priceAttributes({ hasFreeClips: false, limits }, signUpPath)}>
<noscript><p>This form needs JavaScript. The examples work without it.</p></noscript>
<form data-form>
<p class="try-line"><code>POST ${baseUrl}/v1/overlay</code></p>
${fields()}
${keyField(signUpPath)}
<p class="problem" role="alert" data-problem hidden></p>
<p class="small price"><span data-payer hidden></span> <span data-price>&nbsp;</span></p>
<div class="actions">
<button type="submit" class="button" data-render>Send request</button>
<button type="button" class="button quiet" data-cancel hidden>Cancel</button>
</div>
<div class="progress" data-progress hidden><span role="status" data-phase></span><progress max="1"></progress></div>
</form>
${response()}
<details class="as-code"><summary>Code for this request</summary>
${snippetTabs('try-it', 'This request in several languages', trySnippets(TRY_IT_DEFAULTS, baseUrl, `${baseUrl}${SAMPLE_PHOTO_PATH}`))}
</details>
</div>`;
}

function fields(): Html {
  const { text, position, width, height } = TRY_IT_DEFAULTS;
  return html`<div class="try-fields">
${row(
  'try-source',
  'asset',
  html`<select id="try-source" data-source><option value="sample">photo.jpg (sample)</option>
<option value="file">Your own image</option><option value="">None: overlay only</option></select>`,
)}
<fieldset data-source-row="file" disabled hidden><legend class="visually-hidden">Your own image</legend>
${row('try-file', 'file', html`<input id="try-file" name="asset" type="file" accept="image/*" required>`)}</fieldset>
<fieldset data-source-row="" disabled hidden><legend class="visually-hidden">Size</legend>
${row('try-width', 'width', input('width', width, 'numeric'))}
${row('try-height', 'height', input('height', height, 'numeric'))}</fieldset>
${row('try-text', 'text', input('text', text), 'wide-row')}
${row('try-position', 'position', input('position', position, 'decimal'))}
${row('try-style', 'style', select('style', STYLE_PRESETS))}
${row('try-format', 'format', select('format', FORMATS_OF.image))}
</div>`;
}

function row(id: string, label: string, control: Content, className = ''): Html {
  return html`<div class="try-row ${className}"><label for="${id}"><code>${label}</code></label>${control}</div>`;
}

/** The input has no limits of its own, so that visitors can see the API's response to a wrong value. */
function input(name: string, value: string, mode = 'text'): Html {
  return html`<input id="try-${name}" name="${name}" type="text" inputmode="${mode}" dir="auto" autocomplete="off" value="${value}">`;
}

/** The first value is the API's default and isn't sent. */
function select(name: string, values: readonly string[]): Html {
  return html`<select id="try-${name}" name="${name}">${values.map(
    (value, index) => html`<option value="${index > 0 && value}">${value}${index === 0 && ' (default)'}</option>`,
  )}</select>`;
}

function keyField(signUpPath: string | undefined): Html {
  return html`<div class="try-row">
<label for="try-key"><code>x-api-key</code> <span class="small">optional</span></label>
<input id="try-key" type="password" autocomplete="off" spellcheck="false" placeholder="${KEY_PLACEHOLDER}" aria-describedby="try-key-hint" data-key>
<p class="small" id="try-key-hint">Stays in this tab and is never stored. Without a key, your account pays if you’re
<a href="/signin">signed in</a>; otherwise the response is free and has a watermark.${
    signUpPath && html` <a href="${signUpPath}">Get an API key</a>`
  }</p>
</div>`;
}

function response(): Html {
  return html`<section class="try-response" aria-labelledby="try-response" data-response hidden>
<h3 id="try-response" tabindex="-1">Response <span class="state" data-status></span></h3>
<p data-advice hidden><a data-error-link>What this error means and how to fix it</a></p>
<div class="try-parts">
<div class="code" data-body hidden><pre tabindex="0" role="group" aria-label="Response body"><code></code></pre></div>
<div class="try-file" data-saved hidden><div data-media></div><p><a data-download>Download the file</a></p></div>
<table><caption class="visually-hidden">Response headers</caption><tbody data-headers></tbody></table>
</div>
</section>`;
}
