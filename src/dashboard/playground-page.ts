// The playground: a stage with the visitor's own picture or clip, bars to write and drag, and the call that does the same.

import { defaultPosition, MAX_CANVAS_PIXELS, MAX_OVERLAYS, MAX_SIDE, MAX_TEXT_GRAPHEMES } from '../caption/overlay.ts';
import { KEY_PLACEHOLDER, snippetsFor } from './browser/snippets.ts';
import { type Html, html } from './html.ts';
import type { Page, Site } from './page.ts';
import { RULER } from './ruler.ts';
import { snippetTabs } from './snippet-tabs.ts';

/** What visitors can start from, by file in examples/; the first is on the stage at once. */
const STARTERS: readonly { readonly file: string; readonly label: string; readonly alt: string }[] = [
  { file: 'photo.jpg', label: 'Lake', alt: 'A lake at sunset, pines in front' },
  { file: 'city.jpg', label: 'City', alt: 'Lit windows of a city at night' },
  { file: 'table.jpg', label: 'Table', alt: 'A cup of coffee on a wooden table, from above' },
  { file: 'clip.mp4', label: 'Clip', alt: 'A short clip of waves at night' },
];

export function playgroundPage(site: Site, baseUrl: string): Page {
  const defaults = Array.from({ length: MAX_OVERLAYS }, (_, index) => defaultPosition(index));
  return {
    title: 'Playground - Storybar',
    description:
      'Drop a photo or a video, type captions, drag the bars, and take the call home. No key needed for photos.',
    path: '/playground',
    styles: ['playground.css'],
    modules: ['playground.js'],
    body: html`<div class="playground" data-playground data-base-url="${baseUrl}" data-max-bars="${MAX_OVERLAYS}"
data-max-text="${MAX_TEXT_GRAPHEMES}" data-defaults="${defaults.join(' ')}" data-max-side="${MAX_SIDE}"
data-max-pixels="${MAX_CANVAS_PIXELS}">
<h1 class="bar">Playground</h1>
<noscript><p class="wide">The playground needs JavaScript. Everything it does is one call:
<a href="/docs/quickstart">quickstart</a>.</p></noscript>
<div class="play wide">
${stage(site)}
${controls()}
</div>
${result()}
${callSection(baseUrl)}
</div>`,
  };
}

function stage(site: Site): Html {
  return html`<section class="play-stage" aria-label="Picture">
<div class="stage" data-stage>
<div class="stage-media" data-media></div>
<img class="overlay" data-overlay alt="" hidden>
<canvas class="overlay" data-moving hidden></canvas>
<div data-handles></div>
${RULER}
</div>
<p class="status" role="status" data-status></p>
<div class="sources">
<label class="button quiet file"><input type="file" class="visually-hidden" data-file
accept="image/jpeg,image/png,image/webp,video/mp4,video/quicktime,video/webm">Choose a file</label>
<button type="button" class="starter" data-pause hidden>Pause</button>
${STARTERS.map(
  ({ file, label, alt }) =>
    html`<button type="button" class="starter" data-starter="${site.assets.url(file)}" data-name="${file}" data-alt="${alt}">${label}</button>`,
)}
</div>
<p class="small">Or drop or paste one. It stays in your browser until you press Render.</p>
</section>`;
}

function controls(): Html {
  return html`<form class="play-form" data-form>
<h2>Bars</h2>
<p class="small">Drag a bar on the picture, or focus it and use the arrow keys.</p>
<ol class="bars" data-bars></ol>
<template data-bar>
<li>
<div class="bar-head"><label data-text-label>Caption</label><span class="small" data-count></span></div>
<textarea rows="2" dir="auto" data-text></textarea>
<div class="bar-foot">
<label>Position <input type="number" min="0" max="100" step="any" inputmode="decimal" data-position></label>
<button type="button" class="link" data-remove>Remove</button>
</div>
</li>
</template>
<p><button type="button" class="button quiet" data-add>Add a bar</button></p>
<div class="key" data-key-row>
<label for="key">API key <span class="small">for videos; it stays in this page's memory</span></label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="${KEY_PLACEHOLDER}" data-key>
</div>
<p><button type="submit" class="button" data-render>Render</button></p>
<p class="problem" role="alert" data-problem hidden></p>
</form>`;
}

function result(): Html {
  return html`<section class="result" aria-labelledby="result" data-result hidden>
<h2 class="bar" id="result" tabindex="-1">The file</h2>
<div class="wide result-body">
<div data-result-media></div>
<div>
<p class="actions"><a class="button" data-download>Download</a></p>
<table><caption class="visually-hidden">Headers of the answer</caption><tbody data-headers></tbody></table>
</div>
</div>
</section>`;
}

function callSection(baseUrl: string): Html {
  const call = { baseUrl, key: KEY_PLACEHOLDER, asset: 'photo.jpg', overlays: [{ text: '' }], output: 'captioned.png' };
  return html`<section aria-labelledby="same-call">
<h2 class="bar" id="same-call">The same call</h2>
<div class="narrow">${snippetTabs('playground', 'The same call in several languages', snippetsFor(call))}</div>
</section>`;
}
