import { describe, expect, it } from 'vitest';
import { renderMarkdown, resolveLink } from '../../../../src/http/routes/documents.ts';
import { renderMarkup } from '../../../../src/page/markup.ts';

const html = (markdown: string, resolve: (href: string) => string | null = (href) => href) =>
  renderMarkup(renderMarkdown(markdown, resolve).body);

describe('renderMarkdown', () => {
  it('gives headings the ids of GitHub, and lists them', () => {
    const { headings, body } = renderMarkdown("# A & B: `m0-d1`'s\n\n## The same\n\n## The same\n\n## _x_, *y*", () => null);
    expect(headings).toEqual([
      { id: 'a--b-m0-d1s', text: "A & B: m0-d1's", depth: 1 },
      { id: 'the-same', text: 'The same', depth: 2 },
      { id: 'the-same-1', text: 'The same', depth: 2 },
      { id: 'x-y', text: 'x, y', depth: 2 },
    ]);
    expect(renderMarkup(body)).toContain('<h1 id="a--b-m0-d1s">A &amp; B: <code>m0-d1</code>&#39;s</h1>');
  });

  it.each([
    ['<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
    ['a <b onclick="x()">b</b>', '<p>a &lt;b onclick=&quot;x()&quot;&gt;b&lt;/b&gt;</p>'],
    ['[a](https://a.test/"onclick="x)', '<p><a href="https://a.test/&quot;onclick=&quot;x">a</a></p>'],
    ['`<i>` &lt;i&gt; \\<i>', '<p><code>&lt;i&gt;</code> &lt;i&gt; &lt;i&gt;</p>'],
    ['    <i>\n', '<pre><code>&lt;i&gt;</code></pre>'],
    ['![<i>](x.png)', '<p>&lt;i&gt;</p>'],
  ])('writes HTML in %j as text', (markdown, expected) => expect(html(markdown)).toBe(expected));

  it('leaves out the markers of tables and front matter', () => {
    expect(html('---\nname: x\n---\n\n<!-- checks -->\ntext')).toBe('<p>text</p>');
    expect(html('<!-- checks -->\n\ntext\n\n<!-- /checks -->')).toBe('<p>text</p>');
  });

  it('makes a table that scrolls within itself, aligned by class', () => {
    expect(html('## Fees\n\n| a | b | |\n| --- | ---: | :-: |\n| `x` | 1 | |')).toBe(
      '<h2 id="fees">Fees</h2><div class="scroll" tabindex="0" role="group" aria-label="Table: Fees"><table>' +
        '<thead><tr><th scope="col">a</th><th scope="col" class="numeric">b</th><td></td></tr></thead>' +
        '<tbody><tr><td><code>x</code></td><td class="numeric">1</td><td class="centered"></td></tr></tbody></table></div>',
    );
  });

  it('nests lists, and keeps where a list starts', () => {
    expect(html('3. a\n4. b\n   - c **d**')).toBe('<ol start="3"><li>a</li><li>b<ul><li>c <strong>d</strong></li></ul></li></ol>');
  });

  it('writes a link that leads nowhere as its text', () => {
    expect(html('see [`x`](../x.ts), [y](Y.md)', (href) => (href === 'Y.md' ? 'documents/y' : null))).toBe(
      '<p>see <code>x</code>, <a href="documents/y">y</a></p>',
    );
  });
});
describe('resolve link', () => {
  const resolve = (href: string) => resolveLink(href, { path: 'verify' }, 'https://oracle.test/btc/');

  it.each([
    ['#by-hand', 'verify#by-hand'],
    ['AUDIT.md', 'documents/audit'],
    ['OPERATE.md#containers', 'operate#containers'],
    ['../docs/MODEL.md', 'documents/model'],
    ['/docs', 'docs'],
    ['https://oracle.test/btc/methodology.md', 'method'],
    ['https://oracle.test/btc/documents/model.md#limits', 'documents/model#limits'],
    ['https://oracle.test/btc/api/svc/info', 'https://oracle.test/btc/api/svc/info'],
    ['https://oracle.test/methodology.md', 'https://oracle.test/methodology.md'],
    ['https://base.org/x#y', 'https://base.org/x#y'],
    ['mailto:a@b.test', 'mailto:a@b.test'],
  ])('%s leads to %s', (href, expected) => expect(resolve(href)).toBe(expected));

  it.each([
    '../CHANGELOG.md',
    'ARCHITECTURE.md',
    '../examples/demo-agent',
    'javascript:alert(1)',
    'data:text/html,x',
    'JAVASCRIPT:x',
    'http://',
  ])('%s leads nowhere', (href) => expect(resolve(href)).toBeNull());
});
