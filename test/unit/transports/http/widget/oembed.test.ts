import { describe, expect, it } from 'vitest';
import { parseEmbeddableUrl } from '../../../../../src/transports/http/widget/embeddable-url.ts';
import { buildOembed } from '../../../../../src/transports/http/widget/oembed.ts';
import { renderOembedLink } from '../../../../../src/transports/http/widget/oembed-link.ts';
import { renderMarkup } from '../../../../../src/views/markup.ts';
import { DEFAULT_WIDGET } from '../../../../../src/views/widget/options.ts';

const BASE = 'https://oracle.example/btc';
const ANY = { maxwidth: 100_000, maxheight: 100_000 };

describe('an embeddable address', () => {
  it.each([
    ['', DEFAULT_WIDGET],
    ['/', DEFAULT_WIDGET],
    ['/#record', DEFAULT_WIDGET],
    ['/?horizon=2', { ...DEFAULT_WIDGET, horizonDays: 2 }],
    ['/f/2026-11-22/3d', { ...DEFAULT_WIDGET, horizonDays: 3 }],
    ['/f/2026-11-22/1d/', { ...DEFAULT_WIDGET, horizonDays: 1 }],
    ['/widget', DEFAULT_WIDGET],
    ['/widget?horizon=2d&theme=dark&size=large&kind=oembed', { horizonDays: 2, theme: 'dark', size: 'large' }],
  ])('is a page of this service: %s', (path, options) => {
    expect(parseEmbeddableUrl(BASE, `${BASE}${path}`)).toEqual(options);
  });

  it.each([
    '',
    'x',
    'https://oracle.example/',
    'https://oracle.example.org/btc/',
    'http://oracle.example/btc/',
    'https://oracle.example:8443/btc/',
    'https://user:password@oracle.example/btc/',
    'https://oracle.example/btcx',
    `${BASE}/docs`,
    `${BASE}/f/2026-11-22`,
    `${BASE}/f/2026-11-22/4d`,
    `${BASE}/f/latest/7d`,
    `${BASE}/widget.js`,
    `${BASE}/widget?theme=pink`,
    `${BASE}/../admin`,
    'javascript:alert(1)',
  ])('is none: %s', (text) => {
    expect(parseEmbeddableUrl(BASE, text)).toBeNull();
  });
});

describe('an oEmbed answer', () => {
  it('is a frame with a title, sandboxed, loaded when it comes into view', () => {
    const { html, ...rest } = buildOembed(BASE, { horizonDays: 1, theme: 'dark', size: 'medium' }, ANY);
    expect(rest).toEqual({
      type: 'rich',
      version: '1.0',
      title: 'Bitcoin forecast, 1 day',
      provider_name: 'Bitcoin Signal Oracle',
      provider_url: `${BASE}/`,
      cache_age: 3_600,
      width: 360,
      height: 220,
    });
    expect(html).toBe(
      `<iframe src="${BASE}/api/svc/widget?format=html&amp;horizon=1d&amp;theme=dark&amp;size=medium" title="Bitcoin forecast, 1 day" ` +
        'width="360" height="220" sandbox="allow-popups allow-popups-to-escape-sandbox" loading="lazy" ' +
        'style="border:0;max-width:100%"></iframe>',
    );
  });

  it.each([
    ['large', {}, 'large', 480, 360],
    ['large', { maxwidth: 480, maxheight: 360 }, 'large', 480, 360],
    ['large', { maxwidth: 479 }, 'medium', 360, 220],
    ['medium', { maxheight: 219 }, 'small', 300, 64],
    ['medium', { maxwidth: 200 }, 'small', 200, 64],
    ['small', { maxwidth: 1, maxheight: 1 }, 'small', 1, 1],
  ] as const)('has the largest card up to %s that fits into %o: %s', (wanted, max, size, width, height) => {
    const answer = buildOembed(BASE, { ...DEFAULT_WIDGET, size: wanted }, { ...ANY, ...max });
    expect(answer).toMatchObject({ width, height });
    expect(answer.html).toContain(`size=${size}"`);
    expect(answer.html).toContain(`width="${width}" height="${height}"`);
  });

  it('is found by an element in the head', () => {
    expect(renderMarkup(renderOembedLink(BASE, 'f/2026-11-22/7d'))).toBe(
      `<link rel="alternate" type="application/json+oembed" href="${BASE}/oembed?url=` +
        'https%3A%2F%2Foracle.example%2Fbtc%2Ff%2F2026-11-22%2F7d&amp;format=json" title="Card to embed">',
    );
  });
});
