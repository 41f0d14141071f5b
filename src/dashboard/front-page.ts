// The front page: what the service does, shown by the service itself.

import { KEY_PLACEHOLDER, snippetsFor } from './browser/snippets.ts';
import { type Html, html } from './html.ts';
import type { Page, Site } from './page.ts';
import { type PlanOffer, planCards } from './plan-cards.ts';
import { RULER } from './ruler.ts';
import { HERO, overlayPath, type Sample, SAMPLES } from './samples.ts';
import { snippetTabs } from './snippet-tabs.ts';

export function frontPage(site: Site, plans: readonly PlanOffer[], baseUrl: string): Page {
  return {
    title: 'Storybar: caption bars on photos and videos, from one HTTP call',
    description: 'Send a photo or a video and a caption, get the finished PNG or MP4 back in the same response.',
    path: '/',
    styles: ['front.css'],
    modules: ['hero.js'],
    body: html`${hero(site)}${call(baseUrl)}${examples(site)}${facts()}${pricing(site, plans)}`,
  };
}

function hero(site: Site): Html {
  return html`<section class="hero">
<div class="hero-words">
<h1>Caption bars on photos and videos.<br>One call.</h1>
<p class="lead">Send a picture or a clip and what it should say. The finished PNG or MP4 is the response: nothing to poll,
nothing to install.</p>
<form class="hero-try" data-hero hidden>
<label for="hero-text">Say something</label>
<input id="hero-text" name="text" type="text" dir="auto" maxlength="180" autocomplete="off" value="${HERO.overlays[0]?.text}">
<output class="small" data-hero-status>The bar is drawn by this server, as the API would draw it.</output>
</form>
<p class="actions"><a class="button" href="/playground">Open the playground</a>
<a class="button quiet" href="/docs/quickstart">Quickstart</a></p>
</div>
<div class="hero-picture">
${frame(site, HERO, 'eager')}
${RULER}
</div>
</section>`;
}

/** The picture below, the overlay above: what the API would have baked. */
function frame(site: Site, sample: Sample, loading: 'eager' | 'lazy'): Html {
  const { width, height, alt, overlays } = sample;
  const captions = overlays.map(({ text }) => `“${text}”`).join(', ');
  return html`<div class="frame" data-width="${width}" data-height="${height}">
<img src="${site.assets.url(sample.file)}" width="${width}" height="${height}" loading="${loading}" alt="${alt}. Captioned ${captions}.">
<img class="overlay" src="${overlayPath(sample)}" width="${width}" height="${height}" loading="${loading}" alt="">
</div>`;
}

function call(baseUrl: string): Html {
  const snippets = snippetsFor({
    baseUrl,
    key: KEY_PLACEHOLDER,
    asset: 'photo.jpg',
    overlays: [{ text: 'Golden hour, no filter needed 🌅' }],
    output: 'captioned.png',
  });
  return html`<section aria-labelledby="call">
<h2 class="bar" id="call">This is the whole integration</h2>
<div class="narrow">
${snippetTabs('call', 'The call in several languages', snippets)}
<p>A video goes in the same way and comes back as an MP4. Leave the file out, give a width and a height, and you get the
bars alone as a transparent PNG, to lay over anything.</p>
</div>
</section>`;
}

function examples(site: Site): Html {
  const figures = SAMPLES.map(
    (sample) => html`<figure>${frame(site, sample, 'lazy')}
<figcaption><code>${JSON.stringify(sample.overlays)}</code></figcaption></figure>`,
  );
  return html`<section aria-labelledby="examples">
<h2 class="bar" id="examples">Rendered by this server</h2>
<div class="gallery">${figures}</div>
</section>`;
}

const FACTS: readonly (readonly [string, string])[] = [
  [
    'Every script, every emoji',
    'Arabic, Hebrew, Thai, Khmer, Hindi, Japanese, Chinese, Korean and dozens more are shaped, broken into lines and ' +
      'ordered as they are read. The fonts travel with the service, so every machine draws the same bar.',
  ],
  [
    'Your picture stays your picture',
    'Pixels outside the bars do not change. Photos come out upright and in true color, transparency is kept, GPS and ' +
      'other metadata are gone.',
  ],
  [
    'Videos that play everywhere',
    'MP4, MOV and WebM in, H.264 MP4 out: upright, HDR from phones tone-mapped, timing and sound kept.',
  ],
  [
    'Bars where you want them',
    'Up to ten, each at its own height from 0 to 100. Leave the height out and they find a place that covers no other.',
  ],
  [
    'Fast enough to wait for',
    'Three bars on a 1080×1920 photo took 41 ms, the bars alone 9 ms: medians of our benchmark, on two shared cores.',
  ],
  [
    'Errors that say what to fix',
    'Every fault of a request in one answer, each with a code, a pointer to the field and a sentence.',
  ],
];

function facts(): Html {
  return html`<section aria-labelledby="facts">
<h2 class="bar" id="facts">What you can rely on</h2>
<dl class="facts">${FACTS.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
</section>`;
}

function pricing({ signUpPath }: Site, plans: readonly PlanOffer[]): Html {
  const start = signUpPath
    ? html`<a class="button" href="${signUpPath}">Get a key</a>`
    : html`<a class="button" href="/playground">Try it without a key</a>`;
  return html`<section aria-labelledby="plans">
<h2 class="bar" id="plans">Plans</h2>
<div class="wide">
${planCards(plans)}
<p>An image, or bars alone, costs one credit; a video one credit for every five seconds begun. Only what is delivered is
charged. <a href="/docs/limits">Limits and credits in detail</a>.</p>
<p class="actions">${start}</p>
</div>
</section>`;
}
