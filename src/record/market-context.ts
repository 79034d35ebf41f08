import type { Market } from '../market/market.ts';
import { btcPrice } from '../market/reports/btc-price.ts';
import type { ReportEnvelope, ReportedInput } from '../market/reports/envelope-fields.ts';
import { etfFlows } from '../market/reports/etf-flows.ts';
import { fearGreed } from '../market/reports/fear-greed.ts';
import { macroCorrelation } from '../market/reports/macro-correlation.ts';
import type { MarketReport } from '../market/reports/report.ts';
import type { SeriesId } from '../market/series.ts';
import { type Missing, orMissing } from './oracle/missing.ts';
import type { ForecastRecord } from './record.ts';
import { currentRegime } from './regime-history.ts';
import type { ContextSection, MarketContextReply } from './schemas/market-context.ts';

export interface MarketContextParts {
  market: Pick<Market, 'report' | 'coverage' | 'source' | 'kind'>;
  record: ForecastRecord;
  now(): Date;
}

type Sections = { [Section in ContextSection]: NonNullable<MarketContextReply[Section]> };
type Origin = Pick<Sections['price'], 'source' | 'observedAt' | 'ageSeconds' | 'stale'>;

/** One asking: everything is about the same instant. */
interface Asking extends MarketContextParts {
  at: Date;
}

/** The sections that were asked for, each figure with its origin and age; what cannot be had is null, and told as missing. */
export async function contextOf(parts: MarketContextParts, include: readonly ContextSection[]): Promise<MarketContextReply> {
  const asking: Asking = { ...parts, at: parts.now() };
  const missing: Missing[] = [];
  const load = async <Section extends ContextSection>(section: Section): Promise<Sections[Section] | null> =>
    include.includes(section) ? orMissing(missing, section, () => SECTIONS[section](asking)) : null;
  const [price, sentiment, flows, macro, regime] = await Promise.all([
    load('price'),
    load('sentiment'),
    load('flows'),
    load('macro'),
    load('regime'),
  ]);
  const sections = { price, sentiment, flows, macro, regime };
  return {
    asOf: asking.at.toISOString(),
    source: parts.market.source,
    kind: parts.market.kind,
    include: [...include],
    ...sections,
    missing: [...missing, ...nullsIn(sections)].toSorted((a, b) => (a.part < b.part ? -1 : 1)),
  };
}

const SECTIONS: { [Section in ContextSection]: (asking: Asking) => Promise<Sections[Section]> } = {
  async price(asking) {
    const { price, change24h, currency, inputs } = await read<PriceReport>(asking, btcPrice);
    return { btcPrice: price, change24h, currency, ...originOf(inputs[0], asking) };
  },
  async sentiment(asking) {
    const { value, label, date, attribution, inputs } = await read<SentimentReport>(asking, fearGreed);
    return { fearGreed: value, fearGreedLabel: label, date, attribution: attribution ?? null, ...originOf(inputs[0], asking) };
  },
  async flows(asking) {
    const { flow7d, flow30d, lastDay, lastDayDate, provisional, inputs } = await read<FlowsReport>(asking, etfFlows);
    return { etfFlows7d: flow7d, etfFlows30d: flow30d, lastDay, lastDayDate, provisional, ...originOf(inputs[0], asking) };
  },
  async macro(asking) {
    const { inputs, ...report } = await read<MacroReport>(asking, macroCorrelation);
    const origin = (series: SeriesId) => originOf(inputs.find((input) => input.series === series)!, asking);
    return {
      dxy: { ...origin('dxy'), ...report.dxy },
      sp500: { ...origin('sp500'), ...report.sp500 },
      goldBtcRatio: { ...origin('gold'), ...report.goldBtcRatio },
      ismPmi: { ...origin('pmi'), ...report.ismPmi },
    };
  },
  async regime({ record, market, at }) {
    const { regime: name, description, riskLevel, date, timestamp, ageSeconds, stale } = await currentRegime({ record, market }, at);
    return { name, description, riskLevel, date, source: market.source, observedAt: timestamp, ageSeconds, stale };
  },
};

type PriceReport = { price: number } & Pick<Sections['price'], 'change24h' | 'currency'>;
type SentimentReport = { value: number | null; label: Sections['sentiment']['fearGreedLabel']; date: string | null; attribution?: string };
type FlowsReport = { flow7d: number | null; flow30d: number | null } & Pick<Sections['flows'], 'lastDay' | 'lastDayDate' | 'provisional'>;
type MacroReport = { [Figure in keyof Sections['macro']]: Omit<Sections['macro'][Figure], 'source' | 'observedAt' | 'ageSeconds'> };

/** A report as its own fields declare it. */
async function read<Fields>({ market, at }: Asking, report: MarketReport): Promise<Fields & ReportEnvelope> {
  return (await market.report(report, at.getTime())) as Fields & ReportEnvelope;
}

function originOf({ source, observedAt, stale }: ReportedInput, { at }: Asking): Origin {
  const ageSeconds = observedAt === null ? null : Math.max(0, Math.round((at.getTime() - Date.parse(observedAt)) / 1000));
  return { source, observedAt, ageSeconds, stale };
}

/** Why a figure may be null while its section is there, by its path. */
const NULL_BECAUSE: Record<string, string> = {
  'price.change24h': 'the source of the price cannot tell',
  'sentiment.fearGreed': 'no value is known yet',
  'flows.etfFlows7d': 'none of the 7 calendar days has a figure',
  'flows.etfFlows30d': 'none of the 30 calendar days has a figure',
  'flows.lastDay': 'no day has a figure yet',
};

function nullsIn({ macro, ...sections }: { [Section in ContextSection]: Sections[Section] | null }): Missing[] {
  const figures = Object.entries(sections).flatMap(([section, values]) =>
    Object.entries(values ?? {}).map(([name, value]): [string, unknown] => [`${section}.${name}`, value]),
  );
  const plain = figures.flatMap(([part, value]) => (value === null && part in NULL_BECAUSE ? [{ part, reason: NULL_BECAUSE[part] }] : []));
  const ofMacro = Object.entries(macro ?? {}).flatMap(([name, { value, correlation }]) => [
    ...(value === null ? [{ part: `macro.${name}.value`, reason: 'no value is known yet' }] : []),
    ...(correlation === null ? [{ part: `macro.${name}.correlation`, reason: 'too few pairs of changes are known' }] : []),
  ]);
  return [...plain, ...ofMacro];
}
