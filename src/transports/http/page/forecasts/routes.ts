import { PUBLIC_CALLER } from '../../../../auth/caller.ts';
import { REGIME_NAMES } from '../../../../forecast/regime/regime.ts';
import { isOracleError } from '../../../../platform/errors.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import type { ForecastDoc } from '../../../../record/forecast-doc.ts';
import { viewForecast } from '../../../../record/forecast-visibility.ts';
import { type ForecastList, type ListRow, renderForecastList } from '../../../../views/forecast/forecast-list.ts';
import type { HttpDeps } from '../../deps.ts';
import { renderFeedLink } from '../../record/feeds/feed-link.ts';
import { buildWeakEtag } from '../../server/replies/etag.ts';
import { negotiateMediaType } from '../../server/replies/negotiate.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { renderRecordTags } from '../preview/preview-tags.ts';
import { PAGE_CSP, PAGE_HEADERS, renderPage } from '../shell.ts';
import { findForecasts } from './find-forecasts.ts';
import { renderFooter, renderForecastPage } from './forecast-page.ts';
import { renderListCsv } from './list-csv.ts';
import { formatListPath, LIST_QUERY, type ListQuery, pickFilter, toForecastFilter } from './list-query.ts';
import { renderMissingPage } from './missing-page.ts';
import { FORECAST_PARAMS, type ForecastParams, readForecast } from './read-forecast.ts';
import { type ForecastFactsDeps, toVisibleFacts } from './to-forecast-facts.ts';
import { toStateName } from './to-state-name.ts';

type ForecastPageDeps = ForecastFactsDeps & Pick<HttpDeps, 'publicUrl'>;

const PAGE_SIZE = 50;
const MAX_CSV_ROWS = 2_000;
const ERROR_TYPES = ['application/problem+json', 'text/html'] as const;

/** The form of the list submits to this service; other pages have no form. */
const LIST_HEADERS = { ...PAGE_HEADERS, 'Content-Security-Policy': PAGE_CSP.replace("form-action 'none'", "form-action 'self'") };

/** Pages of forecasts for browsers, as an anonymous caller sees them. */
export function forecastPageRoutes(deps: ForecastPageDeps): Route[] {
  return [
    route('GET /f', 'getForecastList', {
      tag: 'service',
      summary: 'All forecasts as a page for browsers, newest first',
      query: LIST_QUERY,
      reply: null,
      alternatives: { 'text/html': { description: 'A page of the list.' } },
      handle: ({ query }) => replyWithList(deps, query),
    }),
    route('GET /f.csv', 'getForecastListCsv', {
      tag: 'record',
      summary: 'The same list as a CSV file',
      description: `At most ${MAX_CSV_ROWS} rows; the header \`Link\` (RFC 8288) has the next ones. Hidden values are empty.`,
      query: LIST_QUERY,
      reply: null,
      alternatives: { 'text/csv': { description: 'A header, and a line a forecast.' } },
      handle: ({ query }) => replyWithCsv(deps, query),
    }),
    route('GET /f/{date}/{horizon}', 'getForecastPage', {
      tag: 'service',
      summary: 'A forecast as a page for browsers: state, timeline, values once revealed, attestations',
      params: FORECAST_PARAMS,
      reply: null,
      alternatives: { 'text/html': { description: 'The page.' } },
      errors: ['NOT_FOUND'],
      handle: ({ params, accept }) => replyWithForecast(deps, params, accept),
    }),
  ];
}

async function replyWithForecast(deps: ForecastPageDeps, params: ForecastParams, accept: string): Promise<Reply<never>> {
  try {
    return toPageReply(renderForecastPage(deps.publicUrl, await readForecast(deps, params)));
  } catch (error) {
    const isForBrowser = negotiateMediaType(accept, ERROR_TYPES) === 'text/html';
    if (!isForBrowser || !isOracleError(error, 'NOT_FOUND')) throw error;
    return { status: 404, headers: PAGE_HEADERS, raw: renderMissingPage(deps.publicUrl, error) };
  }
}

async function replyWithList(deps: ForecastPageDeps, query: ListQuery): Promise<Reply<never>> {
  const { publicUrl, market } = deps;
  const filter = pickFilter(query);
  const { rows, nextBefore } = await readRows(deps, query, PAGE_SIZE);
  const list: ForecastList = {
    ...{ rows, filter, regimes: REGIME_NAMES, isSimulated: market.kind === 'simulated' },
    newestPath: query.before === undefined ? null : formatListPath('f', filter),
    earlierPath: nextBefore === null ? null : formatListPath('f', filter, nextBefore),
    csvPath: formatListPath('f.csv', filter),
    jsonPath: `api/svc/scorecard?horizon=${filter.horizon ?? 7}&limit=${PAGE_SIZE}`,
  };
  const description = 'All forecasts of the record, with their states and outcomes.';
  const head = [renderRecordTags(publicUrl, { path: 'f', title: 'All forecasts', description }), renderFeedLink()];
  const content = { title: 'All forecasts', description, path: 'f', kind: 'forecasts', head, footer: renderFooter() } as const;
  return toPageReply(renderPage(publicUrl, { ...content, body: renderForecastList(list) }), LIST_HEADERS);
}

async function replyWithCsv(deps: ForecastPageDeps, query: ListQuery): Promise<Reply<never>> {
  const { rows, nextBefore } = await readRows(deps, query, MAX_CSV_ROWS);
  const next = nextBefore && joinUrl(deps.publicUrl, `/${formatListPath('f.csv', pickFilter(query), nextBefore)}`);
  const raw = renderListCsv(rows);
  return {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="forecasts.csv"',
      ETag: buildWeakEtag({ raw }),
      ...(next && { Link: `<${next}>; rel="next"` }),
    },
    raw,
  };
}

async function readRows(deps: ForecastPageDeps, query: ListQuery, limit: number) {
  const { docs, nextBefore } = await findForecasts(deps, toForecastFilter(pickFilter(query)), { before: query.before, limit });
  return { rows: docs.map((doc) => toListRow(deps, doc)), nextBefore };
}

function toListRow({ viewFor, now }: ForecastPageDeps, doc: ForecastDoc): ListRow {
  const view = viewForecast(doc, viewFor(PUBLIC_CALLER));
  return {
    date: view.date,
    horizonDays: doc.horizonDays,
    state: toStateName(doc, now()),
    regime: view.regime,
    ...toVisibleFacts(view),
  };
}

function toPageReply(raw: string, headers: Record<string, string> = PAGE_HEADERS): Reply<never> {
  return { headers: { ...headers, ETag: buildWeakEtag({ raw }) }, raw };
}
