import { describe, expect, it } from 'vitest';
import { buildReferenceCsp, renderInitializerScript, renderReferencePage } from '../../../../../src/transports/http/docs/reference-page.ts';
import { escapeHtml } from '../../../../../src/transports/http/server/replies/escape-html.ts';

describe('the API reference page', () => {
  it.each([
    ['https://oracle.test', ''],
    ['https://oracle.test/', ''],
    ['https://oracle.test/btc/', '/btc'],
  ])('of a service at %s loads assets below "%s"', (publicUrl, base) => {
    expect(renderReferencePage({ publicUrl })).toContain(`src="${base}/docs/initializer.js"`);
    expect(renderInitializerScript({ publicUrl })).toContain(`"url":"${base}/.well-known/openapi.json"`);
  });

  it('may connect to the server of the document and no other host', () => {
    expect(buildReferenceCsp({ publicUrl: 'https://oracle.test:8443/btc' })).toContain("connect-src 'self' https://oracle.test:8443;");
  });
});

describe('escapeHtml', () => {
  it('escapes markup', () => {
    expect(escapeHtml(`<b a="1" c='2'>&amp;</b>`)).toBe('&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;');
  });
});
