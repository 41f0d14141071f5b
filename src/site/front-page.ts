// The front page. Its example images are output of the renderer.

import { GUEST_MAX_SIDE } from '../service/account/guest.ts';
import { KEY_PLACEHOLDER, snippetsFor } from './browser/snippets.ts';
import { must } from '../shared/must.ts';
import { type Html, html } from './html.ts';
import type { Page, Site } from './page.ts';
import { type PlanOffer, planCards } from './plan-cards.ts';
import { RULER } from './ruler.ts';
import { EXAMPLE, HERO, overlayFile, type Sample, SAMPLES } from './samples.ts';
import { codeBlock, snippetTabs } from './snippet-tabs.ts';

export function frontPage(site: Site, plans: readonly PlanOffer[], baseUrl: string): Page {
  return {
    title: 'Storybar: story-style captions for photos and videos',
    description: 'Send a photo or video and a caption. Get the finished PNG or MP4 back in the same response.',
    path: '/',
    styles: ['front.css'],
    modules: ['hero.js', 'clip.js', 'compare-samples.js'],
    body: html`${hero(site)}${integration(site, baseUrl)}${examples(site)}${useCases()}${features()}${pricing(site, plans)}`,
  };
}

function hero(site: Site): Html {
  return html`<section class="hero">
<div class="hero-words">
<h1>Story-style captions for photos and videos.<br>One API call.</h1>
<p class="lead">Send a photo or video and a caption. Get the finished PNG or MP4 back in the same response. No polling,
no SDK required.</p>
<form class="hero-try" data-hero>
<label for="hero-text">Try a caption</label>
<input id="hero-text" name="text" type="text" dir="auto" maxlength="180" autocomplete="off" disabled value="${HERO.overlays[0]?.text}">
<output class="small" data-hero-status>Rendered live by the real API.</output>
</form>
<p class="actions">${startButton(site)}
<a class="button quiet" href="/playground">Open the playground</a></p>
</div>
<div class="hero-image">
${frame(site, HERO, 'eager')}
${RULER}
</div>
</section>`;
}

/** Stacks the overlay on the image, which looks the same as the API's output. */
function frame(site: Site, sample: Sample, loading: 'eager' | 'lazy'): Html {
  const { width, height, alt, overlays } = sample;
  const captions = overlays.map(({ text }) => `“${text}”`).join(', ');
  return html`<div class="frame" data-width="${width}" data-height="${height}" data-max-side="${GUEST_MAX_SIDE}">
<img src="${site.assets.url(sample.file)}" width="${width}" height="${height}" loading="${loading}" alt="${alt}. Captioned ${captions}.">
<img class="overlay" src="${site.assets.url(overlayFile(sample))}" width="${width}" height="${height}" loading="${loading}" alt="">
</div>`;
}

function integration(site: Site, baseUrl: string): Html {
  const snippets = snippetsFor({
    baseUrl,
    key: KEY_PLACEHOLDER,
    asset: 'photo.jpg',
    overlays: EXAMPLE.overlays.map(({ text }) => ({ text })),
    output: 'captioned.png',
  });
  return html`<section aria-labelledby="integration">
<h2 class="bar" id="integration">That’s the whole integration</h2>
<div class="wide integration">
<div>
${snippetTabs('integration', 'Example request in several languages', snippets)}
<p>Videos work the same way and come back as MP4. Leave out the file and pass a width and height to get just the caption
bars as a transparent PNG. With <code>format=jpeg</code>, a 1.9 MB photo stays 1.9 MB instead of becoming a 17 MB PNG, and the
pixels outside the bars don’t change.</p>
</div>
<figure class="compare" data-compare>${frame(site, EXAMPLE, 'lazy')}
<input type="range" min="0" max="100" value="35" aria-label="Before and after" disabled>
<figcaption><code>photo.jpg</code><code>captioned.png</code></figcaption></figure>
</div>
</section>`;
}

/** Each use case has the fields that make the difference. */
const USE_CASES: readonly (readonly [title: string, text: string, fields: string])[] = [
  [
    'Posts from your content system',
    'Instagram takes only JPEG, by URL. Send the URL of a photo, get a link to the captioned JPEG.',
    `{
  "asset_url": "https://shop.example/1.jpg",
  "text": "Back in stock",
  "style": "box-light",
  "format": "jpeg",
  "deliver": "url"
}`,
  ],
  [
    'Subtitled clips',
    'SRT or WebVTT in, timed bars out, clear of the buttons that Reels puts over your video.',
    `{
  "asset_url": "https://cdn.example/talk.mp4",
  "captions": "1\\n00:00:00,000 --> ...",
  "safe_area": "reels",
  "async": true,
  "webhook_url": "https://you.example/hook"
}`,
  ],
  [
    'Captions in your own editor',
    'Only the bars, as a transparent image to lay over a canvas. Export later with the same pixels.',
    `{
  "width": 1080,
  "height": 1920,
  "overlays": [
    { "text": "Day 12", "position": 20 }
  ],
  "format": "webp"
}`,
  ],
];

function useCases(): Html {
  return html`<section aria-labelledby="use-cases">
<h2 class="bar" id="use-cases">What you can build</h2>
<div class="wide use-cases">${USE_CASES.map(
    ([title, text, fields]) => html`<div><h3>${title}</h3><p>${text}</p>${codeBlock(fields, title, 'json')}</div>`,
  )}</div>
<p class="wide small">Bodies of <code>POST /v1/overlay</code> as JSON. <a href="/docs#examples">More examples</a>, and recipes for
<a href="/docs/integrations">n8n, Zapier and Make</a>.</p>
</section>`;
}

const CAPTIONS: Readonly<Record<string, readonly [title: string, text: string]>> = {
  bus: ['Several captions', 'Up to ten, each where you want it.'],
  tokyo: ['Every script', 'Wrapped the way its readers expect.'],
  sunset: ['Right to left', 'Shaped and ordered correctly.'],
};

function examples(site: Site): Html {
  const figures = SAMPLES.map((sample) => {
    const [title, text] = must(CAPTIONS[sample.name], `the caption of the sample ${sample.name}`);
    return html`<figure>${frame(site, sample, 'lazy')}
<figcaption><strong>${title}</strong> ${text}</figcaption></figure>`;
  });
  return html`<section aria-labelledby="examples">
<h2 class="bar" id="examples">See it in action</h2>
<div class="gallery">
<figure><video data-clip src="${site.assets.url('snow.mp4')}" poster="${site.assets.url('snow.webp')}" width="640" height="800" muted loop playsinline controls preload="none" aria-label="Branches covered with snow at night. Captioned “First snow of the year ❄️”, then “Worth getting up at five”."></video>
<figcaption><strong>Video</strong> In as a clip, out as an MP4, with captions that come and go.</figcaption></figure>
${figures}
</div>
</section>`;
}

const FEATURES: readonly (readonly [string, string])[] = [
  [
    'Every script, every emoji',
    'Arabic, Hebrew, Thai, Khmer, Hindi, Japanese, Chinese, Korean and dozens more are shaped, wrapped and ordered ' +
      'correctly. Fonts are bundled, so output is identical on every machine.',
  ],
  [
    'Your photo, untouched',
    'Pixels outside the caption bars never change. Orientation and color are corrected, transparency is preserved, and ' +
      'GPS and other metadata are stripped.',
  ],
  [
    'Videos that play everywhere',
    'MP4, MOV, WebM and Matroska in, H.264 MP4 out. Rotation is applied, HDR is tone-mapped, and timing and sound are preserved.',
  ],
  [
    'Captions where you want them',
    'Up to ten captions, each at a position from 0 to 100. Leave out the position and bars place themselves without overlapping.',
  ],
  [
    'Fast',
    'A 1080×1920 photo with three captions renders in 41 ms, an overlay-only PNG in 9 ms (median, two shared cores).',
  ],
  [
    'Errors that say what to fix',
    'Every problem in a request is reported at once, each with a code, a pointer to the field and a plain-English message.',
  ],
];

function features(): Html {
  return html`<section aria-labelledby="features">
<h2 class="bar" id="features">Built for production</h2>
<dl class="facts">${FEATURES.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
</section>`;
}

function startButton({ signUpPath }: Site): Html {
  return signUpPath
    ? html`<a class="button" href="${signUpPath}">Get an API key</a>`
    : html`<a class="button" href="/docs/quickstart">Quickstart</a>`;
}

function pricing(site: Site, plans: readonly PlanOffer[]): Html {
  return html`<section aria-labelledby="plans">
<h2 class="bar" id="plans">Plans</h2>
<div class="wide">
${planCards(plans)}
<p>Images and overlay-only PNGs cost 1 credit. Videos cost 1 credit per 5 seconds (rounded up). You only pay for renders we
deliver; broken downloads are free within a fair-use allowance. <a href="/docs/limits">Limits and credits</a></p>
<p class="actions">${startButton(site)} <a class="button quiet" href="/pricing">Compare plans and calculate</a></p>
</div>
</section>`;
}
