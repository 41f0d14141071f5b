// The playground page: an image or video with captions to edit and drag, and the code for the same request.

import { GUEST_MAX_SIDE } from '../account/guest.ts';
import { defaultPosition, MAX_OVERLAYS, MAX_TEXT_GRAPHEMES, MIN_SIDE } from '../caption/overlay.ts';
import { KEY_PLACEHOLDER, snippetsFor } from './browser/snippets.ts';
import { type Html, html } from './html.ts';
import type { Page, Site } from './page.ts';
import type { PlanOffer } from './plan-cards.ts';
import { lookFields } from './look-fields.ts';
import { RULER } from './ruler.ts';
import { snippetTabs } from './snippet-tabs.ts';

/** Sample files in examples/ to start from. The first one is opened when the page loads. */
const SAMPLE_FILES: readonly { readonly file: string; readonly label: string; readonly alt: string }[] = [
  { file: 'photo.jpg', label: 'Lake', alt: 'A lake at sunset with pines in front' },
  { file: 'city.jpg', label: 'City', alt: 'Lit city windows at night' },
  { file: 'table.jpg', label: 'Table', alt: 'A cup of coffee on a wooden table, seen from above' },
  { file: 'clip.mp4', label: 'Video', alt: 'Waves at night' },
];

export function playgroundPage(site: Site, plans: readonly PlanOffer[], baseUrl: string): Page {
  const canSignUpFree = site.signUpPath !== undefined && plans.some((plan) => plan.monthlyPriceCents === 0);
  const defaults = Array.from({ length: MAX_OVERLAYS }, (_, index) => defaultPosition(index));
  return {
    title: 'Playground - Storybar',
    description: 'Drop a photo or video, type captions, drag the bars, copy the code. Photos don’t need an API key.',
    path: '/playground',
    styles: ['playground.css'],
    modules: ['playground.js'],
    body: html`<div class="playground" data-playground data-base-url="${baseUrl}" data-max-bars="${MAX_OVERLAYS}"
data-max-text="${MAX_TEXT_GRAPHEMES}" data-defaults="${defaults.join(' ')}" data-max-side="${GUEST_MAX_SIDE}"
data-min-side="${MIN_SIDE}" data-key-needed="Videos need an API key.${canSignUpFree && ' Get one free.'}">
<h1 class="bar">Playground</h1>
<noscript><p class="wide">The playground needs JavaScript. To use the API without it, see the
<a href="/docs/quickstart">quickstart</a>.</p></noscript>
<div class="play wide">
${stage(site)}
${controls(canSignUpFree ? site.signUpPath : undefined)}
</div>
${result()}
${codeSection(baseUrl)}
</div>`,
  };
}

function stage(site: Site): Html {
  return html`<section class="play-stage" aria-label="Preview">
<div class="stage" data-stage>
<div class="stage-media" data-media></div>
<img class="overlay" data-overlay alt="" hidden>
<canvas class="overlay" data-moving hidden></canvas>
<div data-handles></div>
<div class="safe-guide" data-safe-guide hidden></div>
${RULER}
</div>
<p class="status" role="status" data-status></p>
<div class="sources">
<label class="button quiet file"><input type="file" class="visually-hidden" data-file
accept="image/jpeg,image/png,image/webp,image/heic,image/heif,image/avif,image/gif,video/mp4,video/quicktime,video/webm,video/x-matroska">Upload</label>
<button type="button" class="starter" data-pause hidden>Pause</button>
${SAMPLE_FILES.map(
  ({ file, label, alt }) =>
    html`<button type="button" class="starter" data-sample="${site.assets.url(file)}" data-name="${file}" data-alt="${alt}">${label}</button>`,
)}
</div>
<p class="small">Or drop or paste a file. It stays in your browser until you click Render.</p>
</section>`;
}

function controls(signUpPath: string | undefined): Html {
  return html`<form class="play-form" data-form>
<h2>Captions</h2>
<p class="small">Drag captions on the image, or select one and use the arrow keys.</p>
<ol class="bars" data-bars></ol>
<template data-bar>
<li>
<div class="bar-head"><label data-text-label>Caption</label><span class="small" data-count></span></div>
<textarea rows="2" dir="auto" data-text></textarea>
<div class="bar-foot">
<label>Position <input type="number" min="0" max="100" step="any" inputmode="decimal" data-position></label>
<button type="button" class="link" data-remove>Remove</button>
</div>
<div class="bar-foot" data-times hidden>
<label>Start, s <input type="number" min="0" step="any" inputmode="decimal" placeholder="0" data-start></label>
<label>End, s <input type="number" min="0" step="any" inputmode="decimal" data-end></label>
</div>
</li>
</template>
<p><button type="button" class="button quiet" data-add>Add caption</button></p>
<div data-subtitles hidden>
<label for="subtitles">Subtitles <span class="small">(SRT or WebVTT, instead of the captions above)</span></label>
<textarea id="subtitles" rows="4" spellcheck="false" data-captions></textarea>
<p><input type="file" accept=".srt,.vtt,text/vtt" aria-label="Subtitle file" data-captions-file></p>
</div>
${lookFields()}
<div class="key" data-key-row>
<label for="key">API key <span class="small">(required for video). Never stored. Without one, images have a watermark and at most
${GUEST_MAX_SIDE.toLocaleString('en')} pixels on the longer side.</span></label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="${KEY_PLACEHOLDER}" data-key>
${signUpPath && html`<a class="small" href="${signUpPath}">Get an API key</a>`}
</div>
<p><label>Format of images <select data-format>
<option value="png">PNG (lossless)</option>
<option value="jpeg">JPEG (small; a JPEG keeps its quality)</option>
<option value="webp">WebP</option>
</select></label></p>
<p><button type="submit" class="button" data-render>Render</button></p>
<p class="problem" role="alert" data-problem hidden></p>
</form>`;
}

function result(): Html {
  return html`<section class="result" aria-labelledby="result" data-result hidden>
<h2 class="bar" id="result" tabindex="-1">Result</h2>
<div class="wide result-body">
<div data-result-media></div>
<div>
<p class="actions"><a class="button" data-download>Download</a></p>
<table><caption class="visually-hidden">Response headers</caption><tbody data-headers></tbody></table>
</div>
</div>
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
<h2 class="bar" id="code">Code</h2>
<div class="narrow">${snippetTabs('playground', 'This request in several languages', snippetsFor(request))}</div>
</section>`;
}
