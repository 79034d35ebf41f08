import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderWidget, WIDGET_CSP, type WidgetCard } from '../../../../../src/transports/http/widget/card.ts';

const CARD: WidgetCard = {
  signal: 'GATED',
  confidence: null,
  horizon: '7d',
  date: '2026-08-01',
  btcPrice: 101_234.5,
  regime: 'CHOP',
  record: { accuracy: 0.6, low: 0.4, high: 0.8, wins: 6, resolved: 10, alwaysUp: 0.55 },
  source: 'live',
  simulated: false,
  replayed: false,
  recordReplayed: false,
  link: 'https://oracle.example/api/svc/scorecard?horizon=7',
};

describe('the card', () => {
  it('shows a gated signal, the price, the regime and the record with its interval', () => {
    const html = renderWidget(CARD, 'auto');
    for (const text of [
      'GATED',
      'until its outcome',
      '101,234.50',
      'CHOP',
      '6 of 10 right: 60 %, 95 % interval 40 % to 80 %',
      'always UP 55 %',
    ])
      expect(html).toContain(text);
    expect(html).toContain('<line class="bar" x1="120.0" x2="240.0" y1="11" y2="11"/>');
    expect(html).toContain('<circle class="dot" cx="180.0"');
    expect(html).not.toMatch(/simulated|replayed/);
  });

  it('shows a readable signal with its confidence', () => {
    const html = renderWidget({ ...CARD, signal: 'BUY', confidence: 0.5876 }, 'auto');
    expect(html).toContain('BUY');
    expect(html).toContain('58.8 % confident');
    expect(html).not.toContain('until its outcome');
  });

  it('marks a simulated market, a replayed forecast and an unscored record', () => {
    const html = renderWidget({ ...CARD, simulated: true, replayed: true, recordReplayed: true, record: null }, 'auto');
    expect(html).toContain('The market is simulated.');
    expect(html).toContain('This forecast was replayed.');
    expect(html).toContain('The record has replayed days.');
    expect(html).toContain('no claim is made');
    expect(html).not.toContain('<svg');
  });

  it('follows the colours of the reader, or those requested', () => {
    expect(renderWidget(CARD, 'auto')).toContain('<html lang="en">');
    expect(renderWidget(CARD, 'dark')).toContain('<html lang="en" data-theme="dark">');
    expect(renderWidget(CARD, 'light')).toContain('data-theme="light"');
    expect(renderWidget(CARD, 'auto')).toContain('prefers-color-scheme:dark');
  });

  it('has a CSP that admits only its own style, and framing by any site', () => {
    const [, style] = /<style>([^<]*)<\/style>/.exec(renderWidget(CARD, 'auto'))!;
    expect(WIDGET_CSP).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(WIDGET_CSP).toContain("default-src 'none'");
    expect(WIDGET_CSP).toContain('frame-ancestors *');
    expect(renderWidget(CARD, 'auto')).not.toMatch(/<script|style=|javascript:|\son\w+=/i);
  });

  it('escapes every text', () => {
    const tags = (html: string) => html.match(/<[^>]*>/g)!.map((tag) => tag.replaceAll(/"[^"]*"/g, '""'));
    const hostile = fc.oneof(
      fc.string(),
      fc.constantFrom('</style><script>alert(1)</script>', '" onload="x', "'><img src=x>", '&lt;', '<!--'),
    );
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, hostile, (signal, horizon, regime, source, link) => {
        const html = renderWidget({ ...CARD, signal, confidence: 0.5, horizon, date: regime, regime, source, link }, 'auto');
        expect(tags(html)).toEqual(tags(renderWidget(CARD, 'auto')));
      }),
    );
  });
});
