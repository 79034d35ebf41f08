import { formatDay } from '../../../forecast/day.ts';
import { invalidAnswer, parseAnswer } from '../../live/sources/http-source.ts';
import type { ArchiveEntry, MaskedValue } from '../archive-series.ts';
import type { ArchiveCollector } from '../collector.ts';
import { BOOK_SUMMARIES, type OptionQuote, readChain } from './book-summary.ts';
import { computeExpiryVols, type ExpiryVols, interpolate } from './expiry-vols.ts';

const TENOR_DAYS = [1, 2, 3, 7];
const YEAR_DAYS = 365;
/** Later expiries do not surround a tenor. */
const MAX_TERM_DAYS = 30;
const MAX_LISTED_MASKS = 50;

interface TenorVols {
  days: number;
  atm: number | null;
  skew: number | null;
}

/**
 * At-the-money vols and 25-delta skew for 1, 2, 3 and 7 days from the present. Source: public/get_book_summary_by_currency of Deribit.
 * Between expiries total variance is linear in time, and so is skew; beyond the first and last expiry nothing is extrapolated.
 */
export const optionVolsCollector: ArchiveCollector = {
  series: 'option-vols',
  providers: ['deribit'],
  reachDays: 0,
  maxDelayMs: 15 * 60_000,
  async collect(day, { providers: { deribit } }) {
    const query = { currency: 'BTC', kind: 'option' };
    const entry = await deribit.call('option chain', async (): Promise<ArchiveEntry> => {
      const { body, receivedAtMs } = await deribit.request({ path: '/api/v2/public/get_book_summary_by_currency', query });
      const chain = readChain(parseAnswer(BOOK_SUMMARIES, body, deribit.title).result, receivedAtMs);
      const { values, masked } = computeOptionVols(chain.quotes, receivedAtMs);
      if (values.tenors.every(({ atm }) => atm === null)) throw invalidAnswer(deribit.title, 'result', formatUseless(chain));
      return {
        ...{ series: 'option-vols', provider: 'deribit', key: formatDay(day) },
        values: { ...values, quotes: chain.quotes.length, maskedQuotes: chain.masked.length },
        masked: [...masked, ...chain.masked].slice(0, MAX_LISTED_MASKS),
        receivedAtMs,
        providerAtMs: chain.quotedAtMs,
      };
    });
    return { entries: [entry], problems: [] };
  },
};

function formatUseless({ quotes, masked }: Pick<ReturnType<typeof readChain>, 'quotes' | 'masked'>): string {
  const [first] = masked;
  const example = first === undefined ? '' : `, the first: ${first.what} ${first.reason}`;
  return `yields no at-the-money vol: ${quotes.length} usable quotes, ${masked.length} masked${example}`;
}

export function computeOptionVols(
  quotes: readonly OptionQuote[],
  atMs: number,
): { values: { tenors: TenorVols[]; expiries: ExpiryVols[] }; masked: MaskedValue[] } {
  const near = quotes.filter(({ expiresAtMs }) => expiresAtMs > atMs && expiresAtMs <= atMs + MAX_TERM_DAYS * 86_400_000);
  const byExpiry = [...Map.groupBy(near, ({ expiresAtMs }) => expiresAtMs)].toSorted(([a], [b]) => a - b);
  const computed = byExpiry.map(([, of]) => computeExpiryVols(of, atMs));
  const expiries = computed.map(({ vols }) => vols);
  const tenors = TENOR_DAYS.map((days) => computeTenor(expiries, days));
  const missing = tenors.flatMap(({ days, atm, skew }) => [
    ...(atm === null ? [{ what: `${days}d atm`, reason: 'no expiry on one side' }] : []),
    ...(skew === null ? [{ what: `${days}d skew`, reason: 'no expiry on one side' }] : []),
  ]);
  return { values: { tenors, expiries }, masked: [...missing, ...computed.flatMap(({ masked }) => masked)] };
}

function computeTenor(expiries: readonly ExpiryVols[], days: number): TenorVols {
  const term = days / YEAR_DAYS;
  const variances = expiries.flatMap(({ term: x, atm }) => (atm === null ? [] : [{ x, y: atm ** 2 * x }]));
  const variance = interpolate(variances, term);
  const skews = expiries.flatMap(({ term: x, skew }) => (skew === null ? [] : [{ x, y: skew }]));
  return { days, atm: variance === null ? null : Math.sqrt(variance / term), skew: interpolate(skews, term) };
}
