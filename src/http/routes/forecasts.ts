import { z } from 'zod';
import { PUBLIC_CALLER } from '../../auth/caller.ts';
import type { ConfirmedAttestation } from '../../chain/eas/eas.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import { formatDay, parseDay } from '../../forecast/day.ts';
import { widenPrice } from '../../forecast/distribution.ts';
import { HORIZON_NAMES, parseHorizonDays } from '../../forecast/horizon-input.ts';
import { HORIZONS, type HorizonDays } from '../../forecast/model.ts';
import { REGIME_NAMES } from '../../forecast/regime.ts';
import {
  type AttestationFacts,
  describeForecast,
  type ForecastFacts,
  type ForecastStateName,
  formatForecastPath,
  formatForecastTitle,
  formatReturn,
  formatShare,
  getStateMark,
  renderForecast,
  STATE_LABELS,
} from '../../page/forecast.ts';
import { el, formatRegime, formatUsd, type Markup } from '../../page/markup.ts';
import { joinUrl } from '../../platform/service-client.ts';
import { type DayDoc, type ForecastDoc, formatForecastId, fromCents } from '../../record/forecast-doc.ts';
import { DIRECTION } from '../../record/schemas/forecast.ts';
import { toScoredForecast } from '../../record/scorecard.ts';
import { type ForecastView, mayReadQuantiles, toPublicStatus, type ViewOptions, viewForecast } from '../../record/visibility.ts';
import { dateInput, horizonNameInput } from '../parameters.ts';
import { buildWeakEtag, negotiateMediaType, type Reply } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';
import { renderFeedLink } from './feeds.ts';
import { PAGE_CSP, PAGE_HEADERS, renderPage } from './home.ts';

const PAGE_SIZE = 50;
const MAX_CSV_ROWS = 2_000;
const ERROR_TYPES = ['application/problem+json', 'text/html'] as const;

/** The form of the list submits to this service; other pages have no form. */
const LIST_HEADERS = { ...PAGE_HEADERS, 'Content-Security-Policy': PAGE_CSP.replace("form-action 'none'", "form-action 'self'") };

/** Pages of forecasts for browsers, as an anonymous caller sees them. */
export function forecastPageRoutes(deps: Services): Route[] {
  return [
    route('GET /f', 'getForecastList', {
      tag: 'service',
      summary: 'All forecasts as a page for browsers, newest first',
      query: LIST_QUERY,
      reply: null,
      alternatives: { 'text/html': { description: 'A page of the list.' } },
      async handle({ query }) {
        const { publicUrl, market } = deps;
        const filter = pickFilter(query);
        const { rows, nextBefore } = await readRows(deps, query, PAGE_SIZE);
        const body = renderForecastList({
          ...{ rows, filter, regimes: REGIME_NAMES, isSimulated: market.kind === 'simulated' },
          newestPath: query.before === undefined ? null : formatListPath('f', filter),
          earlierPath: nextBefore === null ? null : formatListPath('f', filter, nextBefore),
          csvPath: formatListPath('f.csv', filter),
          jsonPath: `api/svc/scorecard?horizon=${filter.horizon ?? 7}&limit=${PAGE_SIZE}`,
        });
        const content = {
          title: 'All forecasts',
          description: 'All forecasts of the record, with their states and outcomes.',
          path: 'f',
          kind: 'forecasts',
          head: renderFeedLink(),
          body,
          footer: renderFooter(),
        } as const;
        return toPageReply(renderPage(publicUrl, content), LIST_HEADERS);
      },
    }),
    route('GET /f.csv', 'getForecastListCsv', {
      tag: 'record',
      summary: 'The same list as a CSV file',
      description: `At most ${MAX_CSV_ROWS} rows; the header \`Link\` (RFC 8288) has the next ones. Hidden values are empty.`,
      query: LIST_QUERY,
      reply: null,
      alternatives: { 'text/csv': { description: 'A header, and a line a forecast.' } },
      async handle({ query }) {
        const { rows, nextBefore } = await readRows(deps, query, MAX_CSV_ROWS);
        const next = nextBefore && joinUrl(deps.publicUrl, `/${formatListPath('f.csv', pickFilter(query), nextBefore)}`);
        const headers = {
          'Content-Type': 'text/csv; charset=utf-8',
          'Content-Disposition': 'attachment; filename="forecasts.csv"',
          ...(next && { Link: `<${next}>; rel="next"` }),
        };
        return toPageReply(renderListCsv(rows), headers);
      },
    }),
    route('GET /f/{date}/{horizon}', 'getForecastPage', {
      tag: 'service',
      summary: 'A forecast as a page for browsers: state, timeline, values once revealed, attestations',
      params: FORECAST_PARAMS,
      reply: null,
      alternatives: { 'text/html': { description: 'The page.' } },
      errors: ['NOT_FOUND'],
      async handle({ params, accept }) {
        try {
          return toPageReply(renderForecastPage(deps.publicUrl, await readForecast(deps, params)));
        } catch (error) {
          const isForBrowser = negotiateMediaType(accept, ERROR_TYPES) === 'text/html';
          if (!isForBrowser || !isOracleError(error, 'NOT_FOUND')) throw error;
          return { status: 404, headers: PAGE_HEADERS, raw: renderMissingPage(deps.publicUrl, error) };
        }
      },
    }),
  ];
}

interface ForecastList {
  rows: readonly ListRow[];
  filter: ListFilter;
  regimes: readonly string[];
  /** Paths relative to the base; null: there is no such page. */
  newestPath: string | null;
  earlierPath: string | null;
  csvPath: string;
  jsonPath: string;
  isSimulated: boolean;
}

const HEADINGS = ['Day', 'Horizon', 'State', 'Call', 'P(up)', 'Opening price', 'Closing price', 'Change', 'Regime'];

/** All forecasts of a filter, a page at a time; works without script. */
function renderForecastList(list: ForecastList): Markup {
  const { rows, filter, regimes, isSimulated, csvPath, jsonPath } = list;
  return el('main', { id: 'main', class: 'forecasts', tabindex: -1 }, [
    el('h1', {}, 'All forecasts'),
    isSimulated && el('p', { class: 'notice' }, 'The market data are simulated.'),
    renderListFilter(filter, regimes),
    el('section', { 'aria-label': 'List' }, [
      el('p', { class: 'list-line' }, [
        el('span', {}, `${rows.length} shown, newest first`),
        el('a', { href: csvPath }, 'CSV'),
        el('a', { href: jsonPath }, 'JSON'),
      ]),
      rows.length === 0 ? el('p', { class: 'empty' }, 'No forecast of these days matches.') : renderTable(rows),
    ]),
    renderPaging(list),
  ]);
}

function renderTable(rows: readonly ListRow[]): Markup {
  const headings = HEADINGS.map((heading, index) => el('th', { scope: 'col', class: index >= 4 && index < 8 && 'numeric' }, heading));
  return el('div', { class: 'scroll forecast-rows', tabindex: 0, role: 'region', 'aria-label': 'Forecasts' }, [
    el('table', {}, el('thead', {}, el('tr', {}, headings)), el('tbody', {}, rows.map(renderRow))),
  ]);
}

function renderRow({ date, horizonDays, state, values, price, regime }: ListRow): Markup {
  const numeric = (value: string) => el('td', { class: 'numeric' }, value);
  const call =
    values === null ? el('span', { class: 'quiet' }, state === 'missed' ? 'none' : 'hidden') : `${values.signal}, ${values.direction}`;
  return el('tr', {}, [
    el('th', { scope: 'row' }, el('a', { href: formatForecastPath(date, horizonDays) }, `${date}`)),
    el('td', {}, `${horizonDays}d`),
    el('td', {}, el('span', { class: `status ${getStateMark(state)}` }, STATE_LABELS[state])),
    el('td', {}, call),
    numeric(formatShare(values?.pUp ?? null)),
    numeric(formatUsd(price.atOpening)),
    numeric(formatUsd(price.atEnd)),
    numeric(formatReturn(price.returnBps)),
    el('td', {}, formatRegime(regime)),
  ]);
}

function renderPaging({ newestPath, earlierPath }: ForecastList): Markup {
  if (newestPath === null && earlierPath === null) return null;
  return el('nav', { class: 'neighbours', 'aria-label': 'Pages of the list' }, [
    newestPath !== null && el('a', { href: newestPath }, '← Newest'),
    earlierPath !== null && el('a', { href: earlierPath, rel: 'next' }, 'Earlier →'),
  ]);
}

/** A plain form: a filter is its URL. */
function renderListFilter(filter: ListFilter, regimes: readonly string[]): Markup {
  const choice = (label: string, name: keyof ListFilter, values: readonly string[], format: (value: string) => string) => {
    const choices = values.map((value) => el('option', { value, selected: value === filter[name] }, format(value)));
    return el('label', {}, el('span', {}, label), el('select', { name }, el('option', { value: '' }, 'All'), choices));
  };
  const date = (label: string, name: 'from' | 'to') =>
    el('label', {}, el('span', {}, label), el('input', { type: 'date', name, value: filter[name] || null }));
  return el('form', { class: 'list-filter', method: 'get', action: 'f', 'aria-label': 'Filter' }, [
    choice('Horizon', 'horizon', ['1', '2', '3', '7'], (days) => `${days}-day`),
    choice('State', 'state', LIST_STATES, formatRegime),
    choice('Revealed call', 'direction', ['UP', 'DOWN'], String),
    choice('Regime', 'regime', regimes, formatRegime),
    date('From', 'from'),
    date('To', 'to'),
    el('button', { type: 'submit' }, 'Filter'),
    Object.values(filter).some(Boolean) && el('a', { href: 'f' }, 'Clear'),
  ]);
}

async function readRows(deps: Services, query: ListQuery, limit: number) {
  const { docs, nextBefore } = findForecasts(deps, pickFilter(query), { before: query.before, limit });
  const rows = docs.map((doc): ListRow => {
    const view = viewForecast(doc, deps.viewFor(PUBLIC_CALLER));
    const { date, regime } = view;
    return { date, horizonDays: doc.horizonDays, state: toStateName(doc, deps.now()), regime, ...toVisibleFacts(view) };
  });
  return { rows, nextBefore };
}

type ListRow = Pick<ForecastFacts, 'date' | 'horizonDays' | 'state' | 'values' | 'price' | 'regime'>;

function toPageReply(raw: string, headers: Record<string, string> = PAGE_HEADERS): Reply<never> {
  return { headers: { ...headers, ETag: buildWeakEtag({ raw }) }, raw };
}

const LIST_STATES = ['committed', 'right', 'wrong', 'hold', 'void', 'missed'] as const;

const STATES: Record<(typeof LIST_STATES)[number], (doc: ForecastDoc) => boolean> = {
  committed: ({ state, missed }) => (state === 'DRAFT' || state === 'PENDING') && !missed,
  right: ({ state }) => state === 'WIN',
  wrong: ({ state }) => state === 'LOSS',
  hold: ({ state }) => state === 'HOLD',
  void: ({ state, missed }) => state === 'VOID' && !missed,
  missed: ({ missed }) => missed,
};

/** A page of a filter, newest day first, then by descending horizon. */
function findForecasts(
  { record: { known } }: Services,
  filter: ListFilter,
  { before, limit }: { before: string | undefined; limit: number },
): { docs: ForecastDoc[]; nextBefore: string | null } {
  const found = known.listAll().filter((doc) => isSelected(doc, filter) && (before === undefined || doc._id < before));
  const docs = found.slice(-limit).toReversed();
  return { docs, nextBefore: found.length > limit ? docs.at(-1)!._id : null };
}

/** As in the URL; an absent or empty value filters nothing. */
interface ListFilter {
  horizon?: string;
  state?: string;
  direction?: string;
  regime?: string;
  from?: string;
  to?: string;
}

/** A direction selects among revealed forecasts alone: among others it would disclose it. */
function isSelected(doc: ForecastDoc, { horizon, state, direction, regime, from, to }: ListFilter): boolean {
  return (
    (state === undefined || STATES[state as keyof typeof STATES](doc)) &&
    (horizon === undefined || doc.horizonDays === Number(horizon)) &&
    (direction === undefined || (doc.reveal !== null && doc.values?.direction === direction)) &&
    (regime === undefined || doc.regime === regime) &&
    (from === undefined || doc.day >= parseDay(from)) &&
    (to === undefined || doc.day <= parseDay(to))
  );
}

/** The document of one forecast. Its head holds no value that is hidden: it is made of the same facts. */
function renderForecastPage(publicUrl: string, facts: ForecastFacts): string {
  const description = describeForecast(facts);
  return renderPage(publicUrl, {
    title: `${formatForecastTitle(facts)}: ${STATE_LABELS[facts.state].toLowerCase()}`,
    description: facts.isSimulated ? `${description} Simulated market.` : description,
    path: formatForecastPath(facts.date, facts.horizonDays),
    kind: 'forecast',
    head: [
      { rel: 'prev', date: facts.previousDate },
      { rel: 'next', date: facts.nextDate },
    ].map(({ rel, date }) => date !== null && el('link', { rel, href: `${publicUrl}/${formatForecastPath(date, facts.horizonDays)}` })),
    body: renderForecast(facts),
    footer: renderFooter(),
  });
}

function renderFooter(): Markup {
  return el('p', {}, [
    'Not financial advice. One outcome says little: ',
    el('a', { href: './' }, 'the whole record'),
    ', ',
    el('a', { href: 'methodology.md' }, 'the method'),
    '.',
  ]);
}

const COLUMNS = ['date', 'horizon', 'state', 'signal', 'direction', 'p_up', 'open_usd', 'end_usd', 'return_bps', 'regime'];

/** Header and a line a forecast. Cells are dates, numbers and fixed names, which need no quotes and begin no formula; hidden values are empty. */
function renderListCsv(rows: readonly ListRow[]): string {
  const lines = rows.map(({ date, horizonDays, state, values, price, regime }) => [
    ...[date, `${horizonDays}d`, state],
    ...[values?.signal, values?.direction, values?.pUp],
    ...[price.atOpening, price.atEnd, price.returnBps, regime],
  ]);
  return `${[COLUMNS, ...lines].map((cells) => cells.map((cell) => cell ?? '').join(',')).join('\r\n')}\r\n`;
}

const HORIZON_DIGITS = HORIZON_NAMES.map((name) => name.slice(0, -1));

/** A form sends its empty fields: they filter nothing. */
const oneOf = (id: string, options: readonly string[], description: string) =>
  z
    .enum(['', ...options], { error: `must be one of ${options.join(', ')}` })
    .optional()
    .describe(description)
    .meta({ param: { id } });
const day = (id: string, description: string) =>
  z
    .union([z.literal(''), z.iso.date()])
    .optional()
    .describe(description)
    .meta({ param: { id } });

const ID_RULE = 'must be the id of a forecast, such as 2026-11-22:7d';
const ID_PATTERN = new RegExp(`^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01]):[${HORIZON_DIGITS.join('')}]d$`);

const LIST_QUERY = z.object({
  horizon: oneOf('ListHorizon', [...HORIZON_DIGITS, ...HORIZON_NAMES], 'Horizon in days; empty for all'),
  state: oneOf('ListState', LIST_STATES, 'Only forecasts of this state; empty for all'),
  direction: oneOf('ListDirection', DIRECTION.options, 'Only revealed forecasts of this direction; empty for all'),
  regime: oneOf('ListRegime', REGIME_NAMES, 'Only forecasts of this regime; empty for all'),
  from: day('ListFrom', 'First day, YYYY-MM-DD, UTC; empty for all'),
  to: day('ListTo', 'Last day, YYYY-MM-DD, UTC; empty for all'),
  before: z
    .string()
    .regex(ID_PATTERN, ID_RULE)
    .refine((id) => z.iso.date().safeParse(id.slice(0, 'YYYY-MM-DD'.length)).success, ID_RULE)
    .optional()
    .describe('Only forecasts before this id in the order of the list')
    .meta({ param: { id: 'ListBefore' } }),
});

type ListQuery = z.output<typeof LIST_QUERY>;

/** The values that filter, by their parameters. */
function pickFilter({ before, ...filter }: ListQuery): ListFilter {
  const chosen = Object.entries(filter).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(chosen.map(([name, value]) => [name, name === 'horizon' ? String(value).charAt(0) : value]));
}

/** A path with its query; without parameters the path alone. */
function formatListPath(path: string, filter: ListFilter, before?: string): string {
  const query = new URLSearchParams({ ...filter, ...(before === undefined ? {} : { before }) }).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** The page of a day or horizon without a forecast. It repeats nothing of the path. */
function renderMissingPage(publicUrl: string, { message, suggestedAction }: OracleError): string {
  const body = el('main', { id: 'main', tabindex: -1 }, [
    el('h1', {}, 'No such forecast'),
    el('p', {}, `${message}. ${suggestedAction ?? ''}`),
    el('p', {}, el('a', { href: 'f' }, 'All forecasts')),
  ]);
  return renderPage(publicUrl, { title: 'No such forecast', path: 'f', kind: 'document', body });
}

const FORECAST_PARAMS = z.object({ date: dateInput, horizon: horizonNameInput });

type ForecastParams = z.output<typeof FORECAST_PARAMS>;

/** A forecast as every reader may see it. @throws OracleError NOT_FOUND naming the field */
function readForecast(deps: Services, { date, horizon }: ForecastParams): ForecastFacts {
  const [day, horizonDays] = [parseDay(date), parseHorizonDays(horizon)];
  // The days before, within and after its window of the same horizon, and all horizons of the day.
  const days = Array.from({ length: horizonDays + 2 }, (_, index) => formatForecastId(day - 1 + index, horizonDays));
  const ids = [...new Set([...days, ...HORIZONS.map((other) => formatForecastId(day, other))])];
  const { known } = deps.record;
  const [docs, dayDoc] = [known.listForecasts(ids), known.findDay(day)];
  const doc = docs.find(({ _id }) => _id === formatForecastId(day, horizonDays));
  if (doc === undefined) throw buildMissingError(deps, date);
  return toForecastFacts(deps, { doc, neighbours: docs.filter((one) => one !== doc), day: dayDoc });
}

function buildMissingError({ record }: Services, date: string): OracleError {
  const days = record.known.listDays();
  const range = days.length === 0 ? 'has no day yet' : `runs from ${days[0]!._id} to ${days.at(-1)!._id}`;
  return new OracleError('NOT_FOUND', `There is no forecast of ${date}`, { field: 'date', suggestedAction: `The record ${range}.` });
}

/** What an anonymous caller may see of a forecast. */
function toForecastFacts(
  deps: Services,
  { doc, neighbours, day }: { doc: ForecastDoc; neighbours: readonly ForecastDoc[]; day: Pick<DayDoc, 'halfWidths'> | null },
): ForecastFacts {
  const now = deps.now();
  const view = viewForecast(doc, deps.viewFor(PUBLIC_CALLER));
  const ofHorizon = neighbours.filter(({ horizonDays }) => horizonDays === doc.horizonDays);
  const dateOf = (other: number) => (ofHorizon.some((one) => one.day === other) ? formatDay(other) : null);
  return {
    date: view.date,
    horizonDays: doc.horizonDays,
    sequence: doc.sequence,
    state: toStateName(doc, now),
    madeAt: view.timestamp,
    windowOpensAt: view.windowOpensAt,
    endsAt: view.resolvesAt,
    now: now.toISOString(),
    regime: view.regime,
    modelVersion: view.modelVersion,
    move: doc.move ?? null,
    ...toVisibleFacts(view),
    committed: toAttestationFacts(doc.attestation, deps),
    revealed: toAttestationFacts(doc.reveal, deps),
    ...toDistributionFacts(doc, { view, day, options: deps.viewFor(PUBLIC_CALLER) }),
    brier: toBrier(doc),
    closes: toCloses(doc, ofHorizon),
    previousDate: dateOf(doc.day - 1),
    nextDate: dateOf(doc.day + 1),
    horizons: [doc, ...neighbours.filter((one) => one.day === doc.day && one._id !== doc._id)]
      .map(({ horizonDays }) => horizonDays)
      .sort((a, b) => a - b),
    isLocalChain: deps.about.local,
    isSimulated: deps.market.kind === 'simulated',
    isReplayed: doc.replayed,
  };
}

/** Values and prices of a view, as a row of the list has them. */
function toVisibleFacts(view: ForecastView): Pick<ForecastFacts, 'values' | 'price'> {
  const { signal, direction, pUp, btcPrice, btcAtSignal, provisional, btcAtResolution, returnBps } = view;
  return {
    values: signal === null || direction === null || pUp === null ? null : { signal, direction, pUp },
    price: { atSignal: btcPrice, atOpening: provisional ? null : btcAtSignal, atEnd: btcAtResolution, returnBps },
  };
}

function toAttestationFacts(made: ConfirmedAttestation | null, { explorerUrl }: Services): AttestationFacts | null {
  if (made === null) return null;
  const { uid, txHash, blockNumber: block, at } = made;
  const page = explorerUrl === null ? null : `${explorerUrl}/attestation/view/${uid}`;
  return { uid, txHash, block, at: at.toISOString(), explorerUrl: page };
}

/** The committed quantiles once they are public; before, the range of the day's widths, which holds no committed value. */
function toDistributionFacts(
  doc: ForecastDoc,
  { view, day, options }: { view: ForecastView; day: Pick<DayDoc, 'halfWidths'> | null; options: ViewOptions },
): Pick<ForecastFacts, 'band' | 'quantiles'> {
  if (doc.values !== null && mayReadQuantiles(doc, options)) {
    const { priceQuantiles } = doc.values;
    const quantiles = Object.entries(priceQuantiles)
      .map(([level, price]) => ({ percent: Number(level.slice(1)), price }))
      .sort((a, b) => a.percent - b.percent);
    return { band: { low: priceQuantiles.p10, high: priceQuantiles.p90, isCommitted: true }, quantiles };
  }
  const widths = day?.halfWidths?.[doc.horizonDays as HorizonDays];
  if (widths === undefined || view.btcPrice === null) return { band: null, quantiles: [] };
  return { band: { ...widenPrice(view.btcPrice, widths.central80), isCommitted: false }, quantiles: [] };
}

function toBrier(doc: ForecastDoc): ForecastFacts['brier'] {
  const scored = toScoredForecast(doc);
  if (scored === null) return null;
  const score = (probability: number) => (probability - Number(scored.rose)) ** 2;
  return { own: score(scored.pUp), baseRate: scored.climatology === null ? null : score(scored.climatology) };
}

/** The opening closes of the forecasts of the window's days, this one's included. */
function toCloses(doc: ForecastDoc, ofHorizon: readonly ForecastDoc[]): ForecastFacts['closes'] {
  return [doc, ...ofHorizon]
    .filter(({ day }) => day >= doc.day && day < doc.day + doc.horizonDays)
    .flatMap(({ windowOpensAt, btcAtSignalCents }) =>
      btcAtSignalCents === null ? [] : [{ at: windowOpensAt.toISOString(), price: fromCents(btcAtSignalCents) }],
    )
    .sort((a, b) => a.at.localeCompare(b.at));
}

const RESOLVED = { WIN: 'right', LOSS: 'wrong', HOLD: 'hold' } as const;

/** The state that the page names, which is public. */
function toStateName(doc: ForecastDoc, now: Date): ForecastStateName {
  if (doc.missed) return 'missed';
  const status = toPublicStatus(doc);
  if (status === 'VOID') return 'void';
  if (status !== 'PENDING') return RESOLVED[status];
  if (doc.attestation === null) return 'forming';
  return doc.resolvesAt <= now ? 'ended' : 'committed';
}
