import { z } from 'zod';
import type { Caller } from '../../../auth/caller.ts';
import type { RecordSummary } from '../../../forecast/statistics/record-summary.ts';
import { type ForecastView, viewForecast } from '../../../record/forecast-visibility.ts';
import { notYetMadeError } from '../../../record/oracle/made-forecast.ts';
import type { HttpDeps } from '../deps.ts';
import { signalDaysInput } from '../server/parsing/parameters.ts';
import { buildWeakEtag } from '../server/replies/etag.ts';
import { negotiateMediaType } from '../server/replies/negotiate.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { renderWidget, type Theme, WIDGET_CSP, type WidgetCard } from './card.ts';
import { WIDGET } from './schemas.ts';

type WidgetDeps = Pick<HttpDeps, 'market' | 'publicUrl' | 'record' | 'statistics' | 'viewFor'>;

const TYPES = ['application/json', 'text/html'] as const;

const query = z.object({
  horizon: signalDaysInput,
  format: z.enum(['json', 'html'], { error: 'must be json or html' }).optional().describe('Response format, overriding `Accept`'),
  theme: z
    .enum(['auto', 'light', 'dark'], { error: 'must be one of auto, light, dark' })
    .default('auto')
    .describe("Colours of the card; `auto` follows the reader's settings"),
});

/** Interface, section 4.1: signal and confidence for embedding in other sites. */
export function widgetRoutes(deps: WidgetDeps): Route[] {
  return [
    route('GET /api/svc/widget', 'getWidget', {
      tag: 'signal',
      summary: 'Signal and confidence, as JSON or as an embeddable card',
      description:
        'The card is HTML without scripts: `<iframe src=".../api/svc/widget?format=html" width="360" height="220"></iframe>`. It shows the ' +
        'record with its interval, and marks simulated or replayed data.',
      query,
      reply: WIDGET,
      alternatives: { 'text/html': { description: 'The card.' } },
      errors: ['STEP_WAITING'],
      async handle({ query: { horizon, format, theme }, caller, accept }) {
        const view = await readNewestView(deps, horizon, caller);
        const html = format === undefined ? negotiateMediaType(accept, TYPES) === 'text/html' : format === 'html';
        return html ? renderCardReply(deps, view, horizon, theme) : toSignalReply(deps, view);
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

function toSignalReply({ market }: WidgetDeps, view: WidgetView): Reply<z.input<typeof WIDGET>> {
  const { signal: word, confidence, horizon, timestamp, replayed } = view;
  const body = { success: true as const, signal: word, confidence, horizon, timestamp, replayed, source: market.source };
  return { headers: { Vary: 'Accept', ETag: buildWeakEtag({ body, at: timestamp }) }, body };
}

async function renderCardReply(
  deps: WidgetDeps,
  view: WidgetView,
  horizonDays: number,
  theme: Theme,
): Promise<Reply<z.input<typeof WIDGET>>> {
  const { statistics, market, publicUrl } = deps;
  const { summary, replayed } = await statistics.figures.getHorizon(horizonDays);
  const raw = renderWidget(
    {
      ...view,
      regime: view.regime ?? 'unknown',
      record: toRecordFigures(summary),
      source: market.source,
      simulated: market.kind === 'simulated',
      recordReplayed: replayed > 0,
      link: `${publicUrl}/api/svc/scorecard?horizon=${horizonDays}`,
    },
    theme,
  );
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

function toRecordFigures({ accuracy, accuracyInterval95, wins, resolved, alwaysUpAccuracy }: RecordSummary): WidgetCard['record'] {
  if (accuracy === null || accuracyInterval95 === null) return null;
  return { accuracy, ...accuracyInterval95, wins, resolved, alwaysUp: alwaysUpAccuracy };
}
