import { expect, it } from 'vitest';
import { buildEmbedLine } from '../../../../src/views/widget/embed-line.ts';
import { DEFAULT_WIDGET, parseWidgetOptions } from '../../../../src/views/widget/options.ts';

const BASE = 'https://oracle.example/';
const OPTIONS = { horizonDays: 3, theme: 'dark', size: 'small' } as const;

it.each([
  [
    'iframe',
    '<iframe src="https://oracle.example/api/svc/widget?format=html&amp;horizon=3d&amp;theme=dark&amp;size=small" ' +
      'title="Bitcoin forecast, 3 days" width="300" height="64" sandbox="allow-popups allow-popups-to-escape-sandbox" loading="lazy" ' +
      'style="border:0;max-width:100%"></iframe>',
  ],
  [
    'component',
    '<script type="module" src="https://oracle.example/widget.js"></script>' +
      '<bitcoin-signal-oracle horizon="3" theme="dark" size="small"></bitcoin-signal-oracle>',
  ],
  ['oembed', 'https://oracle.example/widget?horizon=3d&theme=dark&size=small'],
] as const)('embeds as %s', (kind, line) => {
  expect(buildEmbedLine(BASE, kind, OPTIONS)).toBe(line);
});

it('takes the default for each option that is missing or unknown', () => {
  const parse = (fields: Record<string, string>) => parseWidgetOptions((name) => fields[name] ?? null);
  expect(parse({})).toEqual(DEFAULT_WIDGET);
  expect(parse({ horizon: '4', theme: 'pink', size: '"><script>' })).toEqual(DEFAULT_WIDGET);
  expect(parse({ horizon: '2d', theme: 'light', size: 'large' })).toEqual({ horizonDays: 2, theme: 'light', size: 'large' });
  expect(parse({ horizon: '1' }).horizonDays).toBe(1);
});
