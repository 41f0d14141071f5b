import { expect, it } from 'vitest';
import { escape, html, withModule } from './html.ts';

it('a template escapes every value that is not Html', () => {
  const name = `<b title="x">'&`;
  expect(html`<p>${name}</p>`.text).toBe('<p>&lt;b title=&quot;x&quot;&gt;&#39;&amp;</p>');
  expect(escape(name)).toBe('&lt;b title=&quot;x&quot;&gt;&#39;&amp;');
});

it('a template renders nested templates, lists and numbers, and omits empty values', () => {
  const items = ['a', '<'].map((item) => html`<li>${item}</li>`);
  expect(html`<ul>${items}</ul>${0}${false}${undefined}${null}`.text).toBe('<ul><li>a</li><li>&lt;</li></ul>0');
});

it('a template needs the scripts of everything in it', () => {
  const clock = withModule('clock.js', html`<time>now</time>`);
  expect(html`<ul>${[1, 2].map((item) => html`<li>${item} ${clock}</li>`)}</ul>`.modules).toEqual([
    'clock.js',
    'clock.js',
  ]);
  expect(html`<p>${'<time>'}</p>`.modules).toEqual([]);
});
