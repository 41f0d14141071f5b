import { describe, expect, it } from 'vitest';
import { highlight } from './highlight.ts';

const plain = (markup: string): string =>
  markup
    .replaceAll(/<[^>]+>/gu, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

describe('highlight', () => {
  it('colors strings, comments and keywords, and changes no character of the code', () => {
    const code = "import requests  # a <b>\nprint('it\\'s & \"ok\"')";
    const { text } = highlight(code, 'python');
    expect(plain(text)).toBe(code);
    expect(text).toContain('<span class="code-word">import</span>');
    expect(text).toContain('<span class="code-note"># a &lt;b&gt;</span>');
    expect(text).toMatch(/<span class="code-string">&#39;it/u);
  });

  it('escapes code of an unknown language', () => {
    expect(highlight('<script>', 'cobol').text).toBe('&lt;script&gt;');
  });
});
