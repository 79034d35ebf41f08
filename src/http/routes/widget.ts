import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type PublicPrediction, predict } from '../../../skills/predict-btc-direction.ts';
import type { Caller } from '../../auth/caller.ts';
import { orElse } from '../../errors.ts';
import { parseHorizonDays } from '../../forecast/horizon-input.ts';
import { el, renderMarkup } from '../../page/markup.ts';
import { renderCard, WIDGET_SIZES, WIDGET_THEMES, type WidgetCard, type WidgetOptions } from '../../page/widget.ts';
import { namedObject } from '../../platform/validation.ts';
import { CONFIDENCE, SIGNAL } from '../../record/schemas/forecast.ts';
import { signalDaysInput } from '../parameters.ts';
import { buildWeakEtag, negotiateMediaType } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

const TYPES = ['application/json', 'text/html'] as const;

/** Interface, section 4.1: signal and confidence for embedding in other sites. */
export function widgetRoutes(deps: Services): Route[] {
  return [
    route('GET /api/svc/widget', 'getWidget', {
      tag: 'signal',
      summary: 'Signal and confidence alone as JSON, or with the expected range as an embeddable card',
      description:
        'The card is HTML without scripts: `<iframe src=".../api/svc/widget?format=html" width="360" height="220"></iframe>`. It shows the ' +
        'record with its interval, and marks simulated or replayed data.',
      query: z.object({
        horizon: signalDaysInput,
        format: z.enum(['json', 'html'], { error: 'must be json or html' }).optional().describe('Response format, overriding `Accept`'),
        theme: z
          .enum(WIDGET_THEMES, { error: `must be one of ${WIDGET_THEMES.join(', ')}` })
          .default('auto')
          .describe("Colours of the card; `auto` follows the reader's settings"),
        size: z
          .enum(WIDGET_SIZES, { error: `must be one of ${WIDGET_SIZES.join(', ')}` })
          .default('medium')
          .describe('Size of the card: `small` 300 x 64, `medium` 360 x 220, `large` 480 x 360 pixels, with the ranges of all horizons'),
      }),
      reply: WIDGET,
      alternatives: { 'text/html': { description: 'The card.' } },
      errors: ['STEP_WAITING'],
      variesByCaller: true,
      async handle({ query: { horizon, format, theme, size }, caller, accept }) {
        const forecast = await predict('public', horizon, deps, caller);
        const { signal, confidence, timestamp } = forecast;
        const isHtml = format === undefined ? negotiateMediaType(accept, TYPES) === 'text/html' : format === 'html';
        if (!isHtml) {
          // Interface, section 4.1: these alone.
          const body = { signal, confidence };
          return { headers: { Vary: 'Accept', ETag: buildWeakEtag({ body, at: timestamp }) }, body };
        }
        const others = size === 'large' ? await readOthers(forecast, deps, caller) : [forecast];
        const raw = renderCardPage(await composeCard(deps, forecast, others), { theme, size });
        const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': WIDGET_CSP };
        return { headers: { Vary: 'Accept', ETag: buildWeakEtag({ raw }), ...headers }, raw };
      },
    }),
  ];
}

const WIDGET_HORIZONS = [1, 2, 3, 7] as const;

/** The forecasts of the same day over all horizons of the card. */
async function readOthers(forecast: PublicPrediction, deps: Services, caller: Caller): Promise<PublicPrediction[]> {
  const found = await Promise.all(WIDGET_HORIZONS.map((days) => predict('public', days, deps, caller).catch(orElse('STEP_WAITING', null))));
  return found.filter((one) => one?.date === forecast.date) as PublicPrediction[];
}

async function composeCard(deps: Services, forecast: PublicPrediction, shown: readonly PublicPrediction[]): Promise<WidgetCard> {
  const { figures, market, publicUrl } = deps;
  const horizonDays = parseHorizonDays(forecast.horizon);
  const { summary, replayed } = await figures.getHorizon(horizonDays);
  const { accuracy, accuracyInterval95, wins, resolved, alwaysUpAccuracy } = summary;
  return {
    ...forecast,
    ranges80: shown.flatMap(({ horizon, range }) =>
      range === null ? [] : [{ days: parseHorizonDays(horizon), low: range.low, high: range.high }],
    ),
    record:
      accuracy === null || accuracyInterval95 === null
        ? null
        : { accuracy, ...accuracyInterval95, wins, resolved, alwaysUp: alwaysUpAccuracy },
    simulated: market.kind === 'simulated',
    recordReplayed: replayed > 0,
    link: `${publicUrl}/?horizon=${horizonDays}`,
  };
}

const LIGHT = '--bg:#fff;--fg:#16181d;--dim:#5b6270;--line:#d8dce3;--mark:#0b63ce;--band:#bcd5f5';
const DARK = '--bg:#14161a;--fg:#eceff4;--dim:#9aa3b2;--line:#343a45;--mark:#6cb2ff;--band:#26456b';

/** Sizes of text are in rem, so that they follow the font size of the reader. */
const STYLE = [
  `:root{color-scheme:light dark;${LIGHT}}`,
  `@media (prefers-color-scheme:dark){:root{${DARK}}}`,
  `:root[data-theme=light]{color-scheme:light;${LIGHT}}`,
  `:root[data-theme=dark]{color-scheme:dark;${DARK}}`,
  '*{box-sizing:border-box}',
  'body{margin:0;background:var(--bg);color:var(--fg);font:.8125rem/1.35 system-ui,sans-serif;font-variant-numeric:tabular-nums}',
  'main{min-height:100vh;padding:.6rem .9rem;border:1px solid var(--line);border-radius:10px}',
  'h1{margin:0;font-size:.8125rem;font-weight:600;color:var(--dim)}',
  '.signal{margin:0 0 .25rem;font-size:1.6rem;line-height:1.2;font-weight:700}',
  '.signal span{font-size:.9rem;font-weight:400;color:var(--dim)}',
  'p{margin:.15rem 0}',
  '.dim{color:var(--dim);font-size:.75rem}',
  '.ends{display:flex;justify-content:space-between;font-size:.75rem;margin-bottom:.4rem}',
  'svg{display:block;width:100%;overflow:visible;margin:.15rem 0}',
  'a{color:var(--mark)}',
  'table{width:100%;border-collapse:collapse;font-size:.75rem;margin-bottom:.5rem}',
  'th,td{padding:0;text-align:right;font-weight:400}',
  'th:first-child{text-align:left;color:var(--dim)}',
  '.chosen{font-weight:700}',
  // Three columns in place of three rows, below the width of five.
  '@media (max-width:17rem){table,tbody{display:block}tr{display:inline-block;width:33%}th,td,th:first-child{display:block;text-align:right}}',
  '.small{padding:.2rem .6rem}',
  '.small h1 strong{color:var(--fg)}',
  '.small p{margin:0;font-size:.75rem}',
  '.axis{stroke:var(--line)}',
  '.bar,.tick{stroke:var(--fg);stroke-width:2}',
  '.band{fill:var(--band)}',
  '.dot{stroke:var(--mark);stroke-width:9;stroke-linecap:round}',
  '.base{stroke:var(--dim);stroke-dasharray:2 2}',
].join('');

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Any site may frame the card, which runs, loads and sends nothing. */
export const WIDGET_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
  'frame-ancestors *',
].join('; ');

export function renderCardPage(card: WidgetCard, { theme, size }: Pick<WidgetOptions, 'theme' | 'size'>): string {
  const document = el('html', { lang: 'en', 'data-theme': theme !== 'auto' && theme }, [
    el('head', {}, [
      el('meta', { charset: 'utf-8' }),
      el('meta', { name: 'viewport', content: 'width=device-width' }),
      el('title', {}, 'Bitcoin Signal Oracle'),
      el('style', {}, '{{style}}'),
    ]),
    el('body', {}, renderCard(card, size)),
  ]);
  // The style is text of this file, and its first place-holder is in the head: no text of the card is replaced.
  return `<!doctype html>\n${renderMarkup(document).replace('{{style}}', () => STYLE)}\n`;
}

const WIDGET = namedObject('Widget', {
  signal: SIGNAL.describe('GATED until the outcome for callers below Basic; else BUY, SELL or HOLD'),
  confidence: CONFIDENCE.nullable().describe('Calibrated probability of the direction as committed, 0.50 to 0.99; null while gated'),
});
