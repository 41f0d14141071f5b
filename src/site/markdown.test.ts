import { describe, expect, it } from 'vitest';
import { renderMarkdown } from './markdown.ts';

const bodyOf = (source: string): string => renderMarkdown(source).body.text;

describe('a guide', () => {
  it('a guide has a title and a summary in plain text', () => {
    const { title, summary, body } = renderMarkdown("# A title\n\nIt's `code` & *more*\nof it.\n\nSecond.\n");
    expect(title).toBe('A title');
    expect(summary).toBe("It's code & more of it.");
    expect(body.text).toBe('<p>It&#39;s <code>code</code> &amp; <em>more</em> of it.</p>\n<p>Second.</p>');
  });

  it('a guide gives each heading an id, unless the id is taken', () => {
    expect(bodyOf('# T\n## Bars that overlap\n### Bars that overlap\n')).toBe(
      '<h2 id="bars-that-overlap">Bars that overlap <a class="anchor" href="#bars-that-overlap" aria-label="Link to this section">#</a></h2>\n<h3>Bars that overlap</h3>',
    );
  });

  it('renders lists, whose items may span several lines', () => {
    expect(bodyOf('# T\n- one\n  more\n- **two**\n\n1. first\n2. second\n')).toBe(
      '<ul><li>one more</li><li><strong>two</strong></li></ul>\n<ol><li>first</li><li>second</li></ol>',
    );
  });

  it('renders tables with an id for each row', () => {
    const text = bodyOf('# T\n| code | meaning |\n|---|---|\n| `too_long` | a < b |\n');
    expect(text).toContain('<th scope="col" role="columnheader">code</th>');
    expect(text).toContain('<tr role="row" id="too_long">');
    expect(text).toContain(
      '<td role="cell" data-label="code"><span><span class="name"><code>too_long</code></span></span></td>',
    );
    expect(text).toContain('<td role="cell" data-label="meaning"><span>a &lt; b</span></td>');
  });

  it('a guide does not parse Markdown inside code', () => {
    const text = bodyOf('\n```sh\n# not a heading\n**x** <b> [a](b)\n\n- y\n```\n');
    expect(text.replaceAll(/<\/?span[^>]*>/gu, '')).toContain(
      '<code># not a heading\n**x** &lt;b&gt; [a](b)\n\n- y</code>',
    );
    expect(bodyOf('# T\na `[x](y.md) **z**` b')).toBe('<p>a <code>[x](y.md) **z**</code> b</p>');
  });
});

describe('code in several languages', () => {
  const block = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\`\n\n`;

  it('becomes tabs if the blocks follow each other', () => {
    const text = bodyOf(
      `# T\n## Send it\n\n${block('sh', 'curl a')}${block('ts', 'a()')}${block('python', 'a()')}More.\n`,
    );
    expect([...text.matchAll(/data-language="(?<id>\w+)"/gu)].map(({ groups }) => groups?.['id'])).toEqual([
      'curl',
      'typescript',
      'python',
    ]);
    expect(text).toContain('data-snippets="send-it"');
    expect(text).toMatch(/<\/fieldset>\n<p>More\.<\/p>$/u);
  });

  it('stays apart if a language repeats, text lies in between or the language is data', () => {
    expect(bodyOf(`# T\n${block('sh', 'a')}${block('sh', 'b')}`)).not.toContain('fieldset');
    expect(bodyOf(`# T\n${block('sh', 'a')}Then:\n\n${block('ts', 'b')}`)).not.toContain('fieldset');
    expect(bodyOf(`# T\n${block('sh', 'a')}${block('json', '{}')}`)).not.toContain('fieldset');
  });

  it('has ids of its own if a section has several', () => {
    const both = block('sh', 'a') + block('ts', 'b');
    const text = bodyOf(`# T\n## X\n${both}Or:\n\n${both}`);
    const ids = [...text.matchAll(/ id="(?<id>tab-[^"]+)"/gu)].map(({ groups }) => groups?.['id']);
    expect(new Set(ids).size).toBe(4);
    expect(ids).toHaveLength(4);
  });
});

describe('links', () => {
  it('between guides become links between pages', () => {
    expect(
      bodyOf(
        '# T\n[a](positions.md#defaults) [b](../errors.md) [c](../api.md) [d](https://example.com/x) [e](../SECURITY.md)',
      ),
    ).toBe(
      '<p><a href="/docs/positions#defaults">a</a> <a href="/docs/errors">b</a> <a href="/docs">c</a> <a href="https://example.com/x">d</a> e</p>',
    );
  });

  it('links never run scripts', () => {
    expect(bodyOf('# T\n[a](javascript:alert(1)) <script>')).not.toMatch(/javascript:|<script>/u);
  });
});
