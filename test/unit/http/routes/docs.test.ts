import { describe, expect, it } from 'vitest';
import { buildReferenceCsp, renderReferencePage } from '../../../../src/http/routes/docs.ts';
import { escapeHtml } from '../../../../src/page/markup.ts';

describe('the API reference page', () => {
  it.each([
    ['https://oracle.test', '/'],
    ['https://oracle.test/', '/'],
    ['https://oracle.test/btc/', '/btc/'],
  ])('of a service at %s loads assets below "%s"', (publicUrl, base) => {
    const page = renderReferencePage({ publicUrl });
    expect(page).toContain(`<base href="${base}">`);
    expect(page).toContain('<script src="docs/swagger-ui-bundle.js">');
  });

  it('may connect to the server of the document and no other host', () => {
    const policy = buildReferenceCsp({ publicUrl: 'https://oracle.test:8443/btc' });
    expect(policy).toContain("connect-src 'self' https://oracle.test:8443;");
    expect(policy.match(/connect-src|style-src/g)).toHaveLength(2);
  });

  it('offers all tags and kinds of access as filter', () => {
    const page = renderReferencePage({ publicUrl: 'https://oracle.test' });
    for (const value of ['signal', 'admin', 'public', 'basic', 'premium', 'paid']) expect(page).toContain(`<option value="${value}">`);
  });
});

describe('escapeHtml', () => {
  it('escapes markup', () => {
    expect(escapeHtml(`<b a="1" c='2'>&amp;</b>`)).toBe('&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;');
  });
});
