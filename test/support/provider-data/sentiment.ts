import { type Day, formatDay, HOUR_MS, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { Feed } from '../../../src/market/feed.ts';
import { getPublicationMs, isUsExchangeDay } from '../../../src/market/series.ts';
import type { Answers, HostAnswer, HostRequest } from '../market/provider-host.ts';

/** A day's row is there from this hour on; by then the largest fund has not reported. */
const FIRST_REPORTS_HOUR = 22;
const LEADER = 'IBIT';
const BITBO_ROWS = 21;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MOODS: [number, string][] = [
  [24, 'Extreme Fear'],
  [46, 'Fear'],
  [54, 'Neutral'],
  [75, 'Greed'],
  [100, 'Extreme Greed'],
];

/** What is said of the mood and of funds at an instant. */
export function sentimentAnswers(market: Feed, nowMs: number) {
  return {
    'alternative-me': (request) => fearGreed(request, market, nowMs),
    sosovalue: (request) => sosovalueFlows(request, market, nowMs),
    bitbo: async ({ path }) => (path === '/treasuries/etf-flows/' ? { body: bitboPage(await flowRows(market, nowMs)) } : null),
    farside: async ({ path }) => (path === '/bitcoin-etf-flow-all-data/' ? { body: farsidePage(await flowRows(market, nowMs)) } : null),
  } satisfies Partial<Record<HostRequest['provider'], Answers>>;
}

/** Newest first, numbers in strings; 0 is the whole history. */
async function fearGreed({ path, query }: HostRequest, market: Feed, nowMs: number): Promise<HostAnswer | null> {
  if (path !== '/fng/') return null;
  const { days, values } = await market.observations('fearGreed', nowMs);
  const limit = Number(query.get('limit') ?? 1);
  const all = Array.from(days, (day, index) => ({
    value: String(values[index]),
    value_classification: MOODS.find(([most]) => values[index] <= most)![1],
    timestamp: String(toInstantMs(day) / 1_000),
  })).reverse();
  const untilUpdate = String((toInstantMs(toDay(nowMs) + 1) - nowMs) / 1_000);
  const data = all
    .slice(0, limit === 0 ? undefined : limit)
    .map((row, index) => (index > 0 ? row : { ...row, time_until_update: untilUpdate }));
  return { body: { name: 'Fear and Greed Index', data, metadata: { error: null } } };
}

interface FlowRow {
  day: Day;
  /** Null for what has not been reported; all of it is null on holidays. */
  funds: Record<string, number | null>;
  totalMusd: number;
}

/** Every weekday up to the last reported one, holidays included; oldest first. */
async function flowRows(market: Feed, nowMs: number): Promise<FlowRow[]> {
  const funds = Object.entries(await market.fundFlows(nowMs + 36 * HOUR_MS));
  const { days } = funds[0][1];
  const rows: FlowRow[] = [];
  for (let day = days[0], index = 0; toInstantMs(day, FIRST_REPORTS_HOUR) <= nowMs; day++) {
    const isLate = getPublicationMs('etfFlow', day) > nowMs;
    const isOpen = isUsExchangeDay(day);
    if (!isOpen && isWeekend(day)) continue;
    const reported = funds.map(
      ([ticker, { values }]) => [ticker, isOpen && !(isLate && ticker === LEADER) ? values[index] : null] as const,
    );
    const tenths = reported.reduce((sum, [, flow]) => sum + Math.round((flow ?? 0) * 10), 0);
    rows.push({ day, funds: Object.fromEntries(reported), totalMusd: tenths / 10 });
    if (isOpen) index++;
  }
  return rows;
}

function isWeekend(day: Day): boolean {
  return [0, 6].includes(new Date(toInstantMs(day)).getUTCDay());
}

/** The newest 300 days, in dollars; no rows for holidays. */
async function sosovalueFlows({ path, method, body }: HostRequest, market: Feed, nowMs: number): Promise<HostAnswer | null> {
  if (path !== '/openapi/v2/etf/historicalInflowChart' || method !== 'POST') return null;
  if ((body as { type?: string } | null)?.type !== 'us-btc-spot') return { body: { code: 10001, msg: 'invalid type', data: null } };
  const rows = (await flowRows(market, nowMs)).filter(({ day }) => isUsExchangeDay(day));
  let cumulativeMusd = 0;
  const list = rows.map(({ day, totalMusd }) => {
    cumulativeMusd += totalMusd;
    const usd = (musd: number) => Math.round(musd * 1_000_000);
    const totals = { totalValueTraded: usd(2_500), totalNetAssets: usd(60_000 + cumulativeMusd), cumNetInflow: usd(cumulativeMusd) };
    return { date: formatDay(day), totalNetInflow: usd(totalMusd), ...totals };
  });
  return { body: { code: 0, msg: null, traceId: 'f3c1', data: { list: list.reverse().slice(0, 300) } } };
}

/** The last weeks, newest first; zeros for what has not been reported. */
function bitboPage(rows: FlowRow[]): string {
  const tickers = Object.keys(rows[0].funds);
  const cells = (tag: string, texts: string[]) => `<tr>${texts.map((text) => `<${tag}>${text}</${tag}>`).join('')}</tr>`;
  const body = rows
    .slice(-BITBO_ROWS)
    .reverse()
    .map(({ day, funds, totalMusd }) =>
      cells('td', [bitboDate(day), ...tickers.map((ticker) => (funds[ticker] ?? 0).toFixed(1)), totalMusd.toFixed(1)]),
    );
  const totals = cells('td', ['Total', ...tickers.map(() => '1234.5'), '9876.5']);
  return page(`<table class="stats-table"><thead>${cells('th', ['Date', ...tickers, 'Totals'])}</thead>
<tbody>${body.join('\n')}\n${totals}</tbody></table>`);
}

/** Everything, oldest first, with the unclosed row and the sums that the real page has. */
function farsidePage(rows: FlowRow[]): string {
  const tickers = Object.keys(rows[0].funds);
  const cell = (text: string) => `<td><div align="right"><span class="tabletext">${text}</span></div></td>`;
  const row = (texts: string[]) => `<tr>${texts.map(cell).join('')}</tr>`;
  const heading = (texts: string[]) => `<tr>${texts.map((text) => `<th><span class="tabletext">${text}</span></th>`).join('')}</tr>`;
  const body = rows.map(({ day, funds, totalMusd }) =>
    row([farsideDate(day), ...tickers.map((ticker) => farsideAmount(funds[ticker])), farsideAmount(totalMusd)]),
  );
  const sums = ['Total', 'Average', 'Maximum', 'Minimum'].map((name) => row([name, ...tickers.map(() => '1,234'), '12,345']));
  return page(`<table class="etf"><thead>${heading(['', ...tickers.map(() => 'Issuer'), 'Total'])}
${heading(['', ...tickers, ''])}${heading(['Fee', ...tickers.map(() => '0.25%'), ''])}</thead>
<tbody>\n<tr>\n${body.join('\n')}\n${sums.join('\n')}</tbody></table>`);
}

function farsideAmount(musd: number | null): string {
  if (musd === null) return '-';
  const text = Math.abs(musd).toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  return musd < 0 ? `<span class="redFont">(${text})</span>` : text;
}

function bitboDate(day: Day): string {
  const [year, month, date] = formatDay(day).split('-');
  return `${MONTHS[Number(month) - 1]} ${date}, ${year}`;
}

function farsideDate(day: Day): string {
  const [year, month, date] = formatDay(day).split('-');
  return `${date} ${MONTHS[Number(month) - 1]} ${year}`;
}

function page(table: string): string {
  return `<!DOCTYPE html>\n<html><head><title>Bitcoin ETF flows</title></head><body><table><tr><td>Menu</td></tr></table>\n${table}\n</body></html>\n`;
}
