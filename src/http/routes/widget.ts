import { z } from 'zod';
import type { Caller } from '../../record/caller.ts';
import { nothingYet } from '../../record/oracle/newest.ts';
import { summaryOf } from '../../record/scorecard.ts';
import { type ForecastView, viewForecast } from '../../record/views.ts';
import { weakEtag } from '../etag.ts';
import { negotiate } from '../negotiate.ts';
import { signalHorizon } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { WIDGET } from '../schemas/widget.ts';
import { type Theme, WIDGET_CSP, type WidgetCard, widgetHtml } from '../widget/card.ts';

const TYPES = ['application/json', 'text/html'] as const;

const query = z.object({
  horizon: signalHorizon,
  format: z.enum(['json', 'html'], { error: 'must be json or html' }).optional().describe('What to answer with, whatever `Accept` says'),
  theme: z
    .enum(['auto', 'light', 'dark'], { error: 'must be one of auto, light, dark' })
    .default('auto')
    .describe("Colours of the card; `auto` follows the reader's settings"),
});

/** Interface, section 4.1: signal and confidence only, for other sites to show. */
export function widgetRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/widget',
      name: 'getWidget',
      tag: 'signal',
      summary: 'Signal and confidence only, as JSON or as a card that any site may embed',
      description:
        'The card is a page without scripts: `<iframe src=".../api/svc/widget?format=html" width="360" height="220"></iframe>`. It shows the ' +
        'record with its error bar, and says when data is simulated or replayed.',
      query,
      reply: WIDGET,
      alternatives: { 'text/html': { description: 'The card.' } },
      errors: ['STEP_WAITING'],
      async handle({ query: { horizon, format, theme }, caller, accept }) {
        const view = await newest(parts, horizon, caller);
        const html = format === undefined ? negotiate(accept, TYPES) === 'text/html' : format === 'html';
        return html ? card(parts, view, horizon, theme) : signal(parts, view);
      },
    }),
  ];
}

type ShownView = ForecastView & { signal: NonNullable<ForecastView['signal']>; btcPrice: number };

/** The newest forecast as the caller may see it. @throws OracleError STEP_WAITING before the first */
async function newest({ record, viewFor }: HttpParts, horizonDays: number, caller: Caller): Promise<ShownView> {
  const doc = await record.latest(horizonDays);
  const view = doc === null ? null : viewForecast(doc, viewFor(caller));
  if (view !== null && view.signal !== null && view.btcPrice !== null) return { ...view, signal: view.signal, btcPrice: view.btcPrice };
  throw nothingYet('forecast');
}

function signal({ market }: HttpParts, view: ShownView): Reply<z.input<typeof WIDGET>> {
  const { signal: word, confidence, horizon, timestamp, replayed } = view;
  const body = { success: true as const, signal: word, confidence, horizon, timestamp, replayed, source: market.source };
  return { headers: { Vary: 'Accept', ETag: weakEtag({ body, at: timestamp }) }, body };
}

async function card(parts: HttpParts, view: ShownView, horizonDays: number, theme: Theme): Promise<Reply<z.input<typeof WIDGET>>> {
  const { record, market, publicUrl } = parts;
  const docs = await record.ofHorizon(horizonDays);
  const raw = widgetHtml(
    {
      ...view,
      regime: view.regime ?? 'unknown',
      record: recordLine(summaryOf(docs, horizonDays)),
      source: market.source,
      simulated: market.kind === 'simulated',
      recordReplayed: docs.some(({ replayed }) => replayed),
      link: `${publicUrl}/api/svc/scorecard?horizon=${horizonDays}`,
    },
    theme,
  );
  return {
    headers: {
      Vary: 'Accept',
      ETag: weakEtag({ raw }),
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': WIDGET_CSP,
    },
    raw,
  };
}

function recordLine({
  accuracy,
  accuracyInterval95,
  wins,
  resolved,
  alwaysUpAccuracy,
}: ReturnType<typeof summaryOf>): WidgetCard['record'] {
  if (accuracy === null || accuracyInterval95 === null) return null;
  return { accuracy, ...accuracyInterval95, wins, resolved, alwaysUp: alwaysUpAccuracy };
}
