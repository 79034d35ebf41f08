import { z } from 'zod';
import type { Caller } from '../../../auth/caller.ts';
import type { RecordSummary } from '../../../forecast/statistics/record-summary.ts';
import { orElse } from '../../../platform/errors.ts';
import { type ExpectedRange, getExpectedRange } from '../../../record/distributions/expected-range.ts';
import { type ForecastView, viewForecast } from '../../../record/forecast-visibility.ts';
import { notYetMadeError } from '../../../record/oracle/made-forecast.ts';
import type { WidgetCard, WidgetRange } from '../../../views/widget/figures.ts';
import { WIDGET_HORIZONS, type WidgetOptions } from '../../../views/widget/options.ts';
import type { HttpDeps } from '../deps.ts';
import { signalDaysInput } from '../server/parsing/parameters.ts';
import { buildWeakEtag } from '../server/replies/etag.ts';
import { negotiateMediaType } from '../server/replies/negotiate.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { renderCardPage, WIDGET_CSP } from './card-page.ts';
import { sizeInput, themeInput } from './parameters.ts';
import { WIDGET } from './schemas.ts';

type WidgetDeps = Pick<HttpDeps, 'market' | 'models' | 'publicUrl' | 'record' | 'statistics' | 'viewFor'>;

const TYPES = ['application/json', 'text/html'] as const;

const query = z.object({
  horizon: signalDaysInput,
  format: z.enum(['json', 'html'], { error: 'must be json or html' }).optional().describe('Response format, overriding `Accept`'),
  theme: themeInput,
  size: sizeInput,
});

/** Interface, section 4.1: signal and confidence for embedding in other sites. */
export function widgetRoutes(deps: WidgetDeps): Route[] {
  return [
    route('GET /api/svc/widget', 'getWidget', {
      tag: 'signal',
      summary: 'Signal and confidence as JSON, or with the expected range as an embeddable card',
      description:
        'The card is HTML without scripts: `<iframe src=".../api/svc/widget?format=html" width="360" height="220"></iframe>`. It shows the ' +
        'record with its interval, and marks simulated or replayed data. `/widget` writes that line.',
      query,
      reply: WIDGET,
      alternatives: { 'text/html': { description: 'The card.' } },
      errors: ['STEP_WAITING'],
      variesByCaller: true,
      async handle({ query: { horizon, format, theme, size }, caller, accept }) {
        const view = await readNewestView(deps, horizon, caller);
        const html = format === undefined ? negotiateMediaType(accept, TYPES) === 'text/html' : format === 'html';
        return html ? renderCardReply(deps, view, { horizonDays: horizon, theme, size }) : toSignalReply(deps, view);
      },
    }),
  ];
}

type WidgetView = ForecastView & { signal: NonNullable<ForecastView['signal']>; btcPrice: number };

/** The newest forecast in the view of the caller. @throws OracleError STEP_WAITING before the first */
async function readNewestView({ record, viewFor }: WidgetDeps, horizonDays: number, caller: Caller): Promise<WidgetView> {
  const doc = await record.findLatest(horizonDays);
  const view = doc === null ? null : viewForecast(doc, viewFor(caller));
  if (view !== null && view.signal !== null && view.btcPrice !== null) return { ...view, signal: view.signal, btcPrice: view.btcPrice };
  throw notYetMadeError('forecast');
}

/** Ranges of the same day, the same for every caller; those without a stored width are left out. */
async function listRanges80(deps: WidgetDeps, { date }: WidgetView, horizons: readonly number[]): Promise<WidgetRange[]> {
  const found = await Promise.all(
    horizons.map((days) => getExpectedRange(deps, days).catch(orElse<ExpectedRange | null>('STEP_WAITING', null))),
  );
  return horizons.flatMap((days, index) => {
    const range = found[index]?.date === date ? found[index].ranges.find(({ share }) => share === 0.8) : undefined;
    return range === undefined ? [] : [{ days, low: range.low, high: range.high }];
  });
}

/** Interface, section 4.1: these alone. */
function toSignalReply({ market }: WidgetDeps, view: WidgetView): Reply<z.input<typeof WIDGET>> {
  const { signal: word, confidence, horizon, timestamp, replayed } = view;
  const body = { success: true as const, signal: word, confidence, horizon, timestamp, replayed, source: market.source };
  return { headers: { Vary: 'Accept', ETag: buildWeakEtag({ body, at: timestamp }) }, body };
}

async function renderCardReply(deps: WidgetDeps, view: WidgetView, options: WidgetOptions): Promise<Reply<z.input<typeof WIDGET>>> {
  const raw = renderCardPage(await composeCard(deps, view, options), options);
  return {
    headers: {
      Vary: 'Accept',
      ETag: buildWeakEtag({ raw }),
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': WIDGET_CSP,
    },
    raw,
  };
}

async function composeCard(deps: WidgetDeps, view: WidgetView, { horizonDays, size }: WidgetOptions): Promise<WidgetCard> {
  const { statistics, market, publicUrl } = deps;
  const { summary, replayed } = await statistics.figures.getHorizon(horizonDays);
  return {
    ...view,
    ranges80: await listRanges80(deps, view, size === 'large' ? WIDGET_HORIZONS : [horizonDays]),
    regime: view.regime ?? 'unknown',
    record: toRecordFigures(summary),
    source: market.source,
    simulated: market.kind === 'simulated',
    recordReplayed: replayed > 0,
    link: `${publicUrl}/?horizon=${horizonDays}`,
  };
}

function toRecordFigures({ accuracy, accuracyInterval95, wins, resolved, alwaysUpAccuracy }: RecordSummary): WidgetCard['record'] {
  if (accuracy === null || accuracyInterval95 === null) return null;
  return { accuracy, ...accuracyInterval95, wins, resolved, alwaysUp: alwaysUpAccuracy };
}
