// The playground page: an image or video with captions to edit and drag, and the code for the same request.

import { KEY_PLACEHOLDER, snippetsFor } from '../browser/snippets.ts';
import { type Html, html } from '../html.ts';
import type { Page, Site } from '../page.ts';
import type { PlanOffer } from '../plan-cards.ts';
import { RULER } from '../ruler.ts';
import { snippetTabs } from '../snippet-tabs.ts';
import { captionFields } from './caption-fields.ts';
import { outputFields, shapeFields } from './file-fields.ts';
import { lookFields } from './look-fields.ts';
import { freeSignUpPath, type GuestTerms, priceAttributes } from './price-attributes.ts';

/** Sample files to start from. The first one is opened when the page loads. */
const SAMPLE_FILES: readonly { readonly file: string; readonly label: string; readonly alt: string }[] = [
  { file: 'cairn.jpg', label: 'Mountain', alt: 'Stones stacked into a tower on a mountain, under a blue sky' },
  { file: 'bus.webp', label: 'Street', alt: 'A red bus on a wet street in front of a rusty fence' },
  { file: 'tokyo.webp', label: 'Temple', alt: 'A temple in Tokyo with a red and white tower behind it' },
  { file: 'toy-frog.mp4', label: 'Video', alt: 'A green toy frog on a table' },
];
const ACCEPTED =
  'image/jpeg,image/png,image/webp,image/heic,image/heif,.heic,.heif,image/avif,image/gif,video/mp4,video/quicktime,video/webm,video/x-matroska';

export function playgroundPage(site: Site, plans: readonly PlanOffer[], baseUrl: string, guests: GuestTerms): Page {
  const signUpPath = freeSignUpPath(site, plans);
  return {
    title: 'Playground - Storybar',
    description: 'Drop a photo or video, type captions, drag the bars, copy the code. Photos don’t need an API key.',
    path: '/playground',
    styles: ['playground.css'],
    modules: ['playground/playground.js'],
    body: html`<div class="playground" data-playground data-base-url="${baseUrl}"
${priceAttributes(guests, signUpPath)}>
<h1 class="bar">Playground</h1>
<noscript><p class="wide">The playground needs JavaScript. To use the API without it, see the
<a href="/docs/quickstart">quickstart</a>.</p></noscript>
${sources(site)}
<div class="play">
${stage()}
${controls(signUpPath)}
<div class="play-output">
${result()}
${codeSection(baseUrl)}
</div>
</div>
</div>`,
  };
}

function sources(site: Site): Html {
  return html`<div class="sources" data-sources>
<label class="button quiet file"><input type="file" class="visually-hidden" data-file accept="${ACCEPTED}">Upload</label>
<div class="source-group" role="group" aria-label="Samples">
${SAMPLE_FILES.map(
  ({ file, label, alt }) =>
    html`<button type="button" class="starter" aria-pressed="false" data-sample="${site.assets.url(file)}" data-name="${file}" data-alt="${alt}">${label}</button>`,
)}
</div>
${shapeFields()}
</div>`;
}

function stage(): Html {
  return html`<section class="play-stage" aria-label="Preview">
<div class="stage" data-stage>
<div class="stage-media" data-media></div>
<img class="overlay" data-overlay alt="" hidden>
<canvas class="overlay" data-moving hidden></canvas>
<div class="safe-guide" data-safe-guide hidden></div>
<div class="snap-guide" data-snap-guide hidden></div>
<div data-handles></div>
${RULER}
</div>
<div class="player" data-player hidden>
<button type="button" class="starter" data-play>Pause</button>
<input type="range" min="0" max="1" step="0.04" value="0" aria-label="Position in the video" data-seek>
<span class="small" data-time></span>
<button type="button" class="starter" data-mute>Sound on</button>
</div>
<div class="timeline" role="group" aria-label="Timeline" data-timeline hidden><div class="tracks" data-tracks>
<div class="ticks" aria-hidden="true" data-ticks></div>
<canvas class="thumbnails" aria-hidden="true" data-thumbnails></canvas>
<div data-rows></div>
<div class="playhead" data-playhead></div>
</div></div>
<p class="status" role="status" data-status></p>
<p class="small stage-help" id="stage-help">Click a caption to edit it, double-click elsewhere to add one. Drag it, or use the arrow keys. Alt with an
arrow key jumps to the next guide; Alt while dragging ignores guides.</p>
<p class="visually-hidden" id="editor-help">Press Escape when you are done.</p>
</section>`;
}

function controls(signUpPath: string | undefined): Html {
  return html`<form class="play-form" data-form>
${captionFields()}
${lookFields()}
${outputFields()}
<details class="key" data-key-row>
<summary>API key</summary>
<label for="key">API key <span class="small">Never stored. Charges the credits of its account.</span></label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="${KEY_PLACEHOLDER}" data-key>
${signUpPath && html`<a class="small" href="${signUpPath}">Get an API key</a>`}
</details>
<div class="render-bar">
<p class="problem" role="alert" data-problem hidden></p>
<div class="progress" data-progress hidden><span role="status" data-phase></span><progress max="1"></progress></div>
<div class="render-actions">
<p class="small price"><span data-payer hidden></span> <span data-price></span></p>
<button type="button" class="button quiet" data-cancel hidden>Cancel</button>
<button type="submit" class="button" data-render>Render</button>
</div>
</div>
</form>`;
}

function result(): Html {
  return html`<section class="result" aria-labelledby="result" data-result hidden>
<div class="panel-head"><h2 id="result" tabindex="-1">Result</h2>
<button type="button" class="link" data-copy-image hidden>Copy image</button><a class="button" data-download>Download</a></div>
<p class="small facts" data-facts></p>
<p class="small" data-outdated hidden>Your latest changes aren’t in it.</p>
<div class="compare" data-compare>
<div class="frame" data-result-media></div>
<input type="range" min="0" max="100" value="0" aria-label="Compare before and after" disabled>
</div>
<details><summary>Response headers</summary>
<table><caption class="visually-hidden">Response headers</caption><tbody data-headers></tbody></table>
</details>
</section>`;
}

function codeSection(baseUrl: string): Html {
  const request = {
    baseUrl,
    key: KEY_PLACEHOLDER,
    asset: 'photo.jpg',
    overlays: [{ text: '' }],
    output: 'captioned.png',
  };
  return html`<section aria-labelledby="code">
<div class="panel-head"><h2 id="code">Code</h2>
<button type="button" class="link" data-link>Copy link</button>
<button type="button" class="link" data-start-over>Start over</button></div>
${snippetTabs('playground', 'This request in several languages', snippetsFor(request))}
<p class="small">A link holds your captions and settings, never your file or key. This browser keeps your work until you start over.</p>
</section>`;
}
