import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderCardPage, WIDGET_CSP } from '../../../../src/http/routes/widget.ts';
import { WIDGET_SIZES, type WidgetCard, type WidgetOptions } from '../../../../src/page/widget.ts';

const CARD: WidgetCard = {
  moveSize: 'WILD',
  pBig: 0.582,
  signal: 'GATED',
  confidence: null,
  horizon: '7d',
  date: '2026-08-01',
  btcPrice: 101_234.5,
  regime: 'CHOP',
  ranges80: [
    { days: 1, low: 99_000, high: 103_000 },
    { days: 7, low: 96_123.4, high: 106_777.7 },
  ],
  record: { accuracy: 0.6, low: 0.4, high: 0.8, wins: 6, resolved: 10, alwaysUp: 0.55 },
  source: 'live',
  simulated: false,
  replayed: false,
  recordReplayed: false,
  link: 'https://oracle.example/?horizon=7',
};

function render(changes: Partial<WidgetCard> = {}, options: Partial<WidgetOptions> = {}): string {
  return renderCardPage({ ...CARD, ...changes }, { theme: 'auto', size: 'medium', ...options });
}

/** Text of the body, without tags. */
const textOf = (html: string) => html.replace(/^.*<body>/s, '').replaceAll(/<[^>]*>/g, ' ');

describe('the card', () => {
  it('shows a gated signal, the range around the price, and the record with its interval', () => {
    const html = render();
    expect(textOf(html).replaceAll(/\s+/g, ' ')).toMatch(/WILD move; 58 % beyond 5 % .*80 % range.* Direction, no proven skill: GATED/);
    expect(render({ horizon: '1d' })).toContain('58 % beyond 3 %');
    expect(render({ moveSize: null, pBig: null })).not.toMatch(/ move|null|beyond/);
    for (const text of [
      'GATED',
      'until its outcome',
      'Expected 80 % range at the end: 96,123 to 106,778 USD, around 101,235',
      '6 of 10 right: 60 %, 95 % interval 40 % to 80 %',
      'always UP 55 %',
    ])
      expect(html).toContain(text);
    expect(html).toContain('<line class="bar" x1="120" y1="7" x2="240" y2="7"');
    expect(html).toContain('<line class="dot" x1="180"');
    expect(html).not.toMatch(/simulated|replayed/i);
  });

  it('draws the price where it lies within the range', () => {
    const html = render({ btcPrice: 100, ranges80: [{ days: 7, low: 90, high: 120 }] });
    expect(html).toContain('<line class="tick" x1="100" y1="0" x2="100" y2="12"');
  });

  it('shows a readable signal with its confidence', () => {
    const html = render({ signal: 'BUY', confidence: 0.5876 });
    expect(html).toContain('<strong>BUY</strong> 58.8 % confident');
    expect(html).not.toContain('until its outcome');
  });

  it('shows the ranges of all horizons when large, with the chosen one marked', () => {
    const html = render({}, { size: 'large' });
    expect(html).toContain('Expected 80 % ranges in USD: 1d 99,000 to 103,000; 7d 96,123 to 106,778');
    expect(html).toContain('points="0,49.9 42.9,34 300,0 300,96 42.9,70.1"');
    expect(html).toContain('<line class="tick" x1="300" y1="0" x2="300" y2="96"');
    expect(textOf(html).replaceAll(/\s+/g, ' ')).toContain('Days 1 7 High 103,000 106,778 Low 99,000 96,123');
    expect(html.match(/class="chosen"/g)).toHaveLength(3);
  });

  it('shows signal, range and record in three lines when small', () => {
    const html = render({ simulated: true, recordReplayed: true }, { size: 'small' });
    expect(textOf(html).replaceAll(/\s+/g, ' ').trim()).toBe(
      'Bitcoin 7d WILD move 80 %: 96,123 to 106,778 USD, simulated GATED: 6 of 10 right (40 to 80 %), replayed',
    );
    expect(html).not.toContain('<svg');
  });

  it.each(WIDGET_SIZES)('links to the dashboard in a new tab, and draws no range that is not stored: %s', (size) => {
    const html = render({ ranges80: [], record: null }, { size });
    expect(html).toContain('<a href="https://oracle.example/?horizon=7" target="_blank" rel="noopener noreferrer">');
    expect(html).not.toMatch(/<svg|NaN|undefined/);
  });

  it('marks a simulated market, a replayed forecast and an unscored record', () => {
    const html = render({ simulated: true, replayed: true, recordReplayed: true, record: null, ranges80: [] });
    expect(html).toContain('Simulated market. Replayed forecast. Replayed days in the record.');
    expect(html).toContain('no claim is made');
  });

  it('follows the colours of the reader, or those requested', () => {
    expect(render()).toContain('<html lang="en">');
    expect(render({}, { theme: 'dark' })).toContain('<html lang="en" data-theme="dark">');
    expect(render({}, { theme: 'light' })).toContain('data-theme="light"');
    expect(render()).toContain('prefers-color-scheme:dark');
  });

  it('has a CSP that admits only its own style, and framing by any site', () => {
    const [, style] = /<style>([^<]*)<\/style>/.exec(render())!;
    expect(WIDGET_CSP).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(WIDGET_CSP).toContain("default-src 'none'");
    expect(WIDGET_CSP).toContain('frame-ancestors *');
    for (const size of WIDGET_SIZES) expect(render({}, { size })).not.toMatch(/<script|style=|javascript:|\son\w+=|http-equiv/i);
  });

  it('escapes every text', () => {
    const tags = (html: string) => html.match(/<[^>]*>/g)!.map((tag) => tag.replaceAll(/"[^"]*"/g, '""'));
    const hostile = fc.oneof(
      fc.string(),
      fc.constantFrom('</style><script>alert(1)</script>', '" onload="x', "'><img src=x>", '&lt;', '<!--', '{{style}}'),
    );
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, fc.constantFrom(...WIDGET_SIZES), (signal, date, source, link, size) => {
        const html = render({ signal, confidence: 0.5, date, regime: date, source, link: `${link}x` }, { size });
        expect(tags(html)).toEqual(tags(render({}, { size })));
      }),
    );
  });
});
