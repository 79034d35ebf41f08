import type { Market } from '../../market/market.ts';
import { btcPriceReport } from '../../market/reports/bitcoin/btc-price.ts';
import { fearGreedReport } from '../../market/reports/bitcoin/fear-greed.ts';
import type { ReportEnvelope, ReportedInput } from '../../market/reports/envelope-fields.ts';
import { etfFlowsReport } from '../../market/reports/etf/etf-flows.ts';
import { macroCorrelationReport } from '../../market/reports/macro/macro-correlation.ts';
import type { MarketReport } from '../../market/reports/report.ts';
import type { SeriesId } from '../../market/series/series.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { loadOrNoteMissing, type MissingPart } from '../oracle/missing-parts.ts';
import type { ContextSection, MarketContextReply } from '../schemas/market-context.ts';
import { getCurrentRegime } from './regime-history.ts';

export interface MarketContextDeps {
  market: Pick<Market, 'report' | 'coverage' | 'source' | 'kind'>;
  record: ForecastRecord;
  now(): Date;
}

type Sections = { [Section in ContextSection]: NonNullable<MarketContextReply[Section]> };
type FigureOrigin = Pick<Sections['price'], 'source' | 'observedAt' | 'ageSeconds' | 'stale'>;

/** All sections of one request share an instant. */
interface ContextRequest extends MarketContextDeps {
  at: Date;
}

/** The requested sections, each figure with source and age; unavailable parts are null and listed in `missing`. */
export async function readMarketContext(deps: MarketContextDeps, include: readonly ContextSection[]): Promise<MarketContextReply> {
  const request: ContextRequest = { ...deps, at: deps.now() };
  const missing: MissingPart[] = [];
  const load = async <Section extends ContextSection>(section: Section): Promise<Sections[Section] | null> =>
    include.includes(section) ? loadOrNoteMissing(missing, section, () => SECTION_READERS[section](request)) : null;
  const [price, sentiment, flows, macro, regime] = await Promise.all([
    load('price'),
    load('sentiment'),
    load('flows'),
    load('macro'),
    load('regime'),
  ]);
  const sections = { price, sentiment, flows, macro, regime };
  return {
    asOf: request.at.toISOString(),
    source: deps.market.source,
    kind: deps.market.kind,
    include: [...include],
    ...sections,
    missing: [...missing, ...listNullFigures(sections)].toSorted((a, b) => (a.part < b.part ? -1 : 1)),
  };
}

const SECTION_READERS: { [Section in ContextSection]: (request: ContextRequest) => Promise<Sections[Section]> } = {
  async price(request) {
    const { price, change24h, currency, inputs } = await readReport<PriceReport>(request, btcPriceReport);
    return { btcPrice: price, change24h, currency, ...toFigureOrigin(inputs[0], request) };
  },
  async sentiment(request) {
    const { value, label, date, attribution, inputs } = await readReport<SentimentReport>(request, fearGreedReport);
    return { fearGreed: value, fearGreedLabel: label, date, attribution: attribution ?? null, ...toFigureOrigin(inputs[0], request) };
  },
  async flows(request) {
    const { flow7d, flow30d, lastDay, lastDayDate, provisional, inputs } = await readReport<FlowsReport>(request, etfFlowsReport);
    return { etfFlows7d: flow7d, etfFlows30d: flow30d, lastDay, lastDayDate, provisional, ...toFigureOrigin(inputs[0], request) };
  },
  async macro(request) {
    const { inputs, ...report } = await readReport<MacroReport>(request, macroCorrelationReport);
    const origin = (series: SeriesId) => toFigureOrigin(inputs.find((input) => input.series === series)!, request);
    return {
      dxy: { ...origin('dxy'), ...report.dxy },
      sp500: { ...origin('sp500'), ...report.sp500 },
      goldBtcRatio: { ...origin('gold'), ...report.goldBtcRatio },
      ismPmi: { ...origin('pmi'), ...report.ismPmi },
    };
  },
  async regime({ record, market, at }) {
    const { regime: name, description, riskLevel, date, timestamp, ageSeconds, stale } = await getCurrentRegime({ record, market }, at);
    return { name, description, riskLevel, date, source: market.source, observedAt: timestamp, ageSeconds, stale };
  },
};

type PriceReport = { price: number } & Pick<Sections['price'], 'change24h' | 'currency'>;
type SentimentReport = { value: number | null; label: Sections['sentiment']['fearGreedLabel']; date: string | null; attribution?: string };
type FlowsReport = { flow7d: number | null; flow30d: number | null } & Pick<Sections['flows'], 'lastDay' | 'lastDayDate' | 'provisional'>;
type MacroReport = { [Figure in keyof Sections['macro']]: Omit<Sections['macro'][Figure], 'source' | 'observedAt' | 'ageSeconds'> };

async function readReport<Fields>({ market, at }: ContextRequest, report: MarketReport): Promise<Fields & ReportEnvelope> {
  return (await market.report(report, at.getTime())) as Fields & ReportEnvelope;
}

function toFigureOrigin({ source, observedAt, stale }: ReportedInput, { at }: ContextRequest): FigureOrigin {
  const ageSeconds = observedAt === null ? null : Math.max(0, Math.round((at.getTime() - Date.parse(observedAt)) / 1000));
  return { source, observedAt, ageSeconds, stale };
}

/** Reasons for null figures in a present section, by path. */
const NULL_REASONS: Record<string, string> = {
  'price.change24h': 'the price source has no 24-hour change',
  'sentiment.fearGreed': 'no value is known yet',
  'flows.etfFlows7d': 'none of the 7 calendar days has a figure',
  'flows.etfFlows30d': 'none of the 30 calendar days has a figure',
  'flows.lastDay': 'no day has a figure yet',
};

function listNullFigures({ macro, ...sections }: { [Section in ContextSection]: Sections[Section] | null }): MissingPart[] {
  const figures = Object.entries(sections).flatMap(([section, values]) =>
    Object.entries(values ?? {}).map(([name, value]): [string, unknown] => [`${section}.${name}`, value]),
  );
  const plain = figures.flatMap(([part, value]) => (value === null && part in NULL_REASONS ? [{ part, reason: NULL_REASONS[part] }] : []));
  const ofMacro = Object.entries(macro ?? {}).flatMap(([name, { value, correlation }]) => [
    ...(value === null ? [{ part: `macro.${name}.value`, reason: 'no value is known yet' }] : []),
    ...(correlation === null ? [{ part: `macro.${name}.correlation`, reason: 'too few pairs of changes are known' }] : []),
  ]);
  return [...plain, ...ofMacro];
}
