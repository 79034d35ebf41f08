import { normalCdf } from '../../../forecast/math/normal.ts';
import { median } from '../../prices/quorum.ts';
import type { MaskedValue } from '../archive-series.ts';
import type { OptionQuote } from './book-summary.ts';

/** 365 days, as Deribit annualizes. */
const YEAR_MS = 365 * 86_400_000;
const DELTA = 0.25;

export interface ExpiryVols {
  expiresAt: string;
  /** Years. */
  term: number;
  /** Median of the underlying prices of its quotes. */
  forward: number;
  /** Fractions a year; null where they cannot be interpolated. */
  atm: number | null;
  /** Vol of the 25-delta put less that of the 25-delta call. */
  skew: number | null;
}

interface Point {
  x: number;
  y: number;
}

/**
 * F is the median of the underlying prices. At-the-money vol: linear in ln(K/F) between the nearest strikes below and above F, a strike's
 * vol being the mean of its call and put. Skew: vol of the put with Black-76 delta N(d1) - 1 = -0.25 less that of the call with
 * N(d1) = 0.25, each linear in delta between its neighbours out of the money, d1 = ln(F/K) / (vol sqrt(T)) + vol sqrt(T) / 2.
 */
export function computeExpiryVols(quotes: readonly OptionQuote[], atMs: number): { vols: ExpiryVols; masked: MaskedValue[] } {
  const [{ expiresAtMs }] = quotes;
  const expiresAt = new Date(expiresAtMs).toISOString();
  const term = (expiresAtMs - atMs) / YEAR_MS;
  const forward = median(quotes.map(({ underlying }) => underlying));
  const atm = interpolate(toSmile(quotes, forward), 0);
  const [call, put] = (['C', 'P'] as const).map((type) => computeWing(quotes, { type, forward, term }));
  const skew = call === null || put === null ? null : put - call;
  const masked: MaskedValue[] = [];
  if (atm === null) masked.push({ what: `${expiresAt} atm`, reason: 'no strike on one side of the forward' });
  if (skew === null) masked.push({ what: `${expiresAt} skew`, reason: 'no strikes around 25 delta, or deltas that cross it twice' });
  return { vols: { expiresAt, term, forward, atm, skew }, masked };
}

/** Vol by log-moneyness, ascending. */
function toSmile(quotes: readonly OptionQuote[], forward: number): Point[] {
  const byStrike = Map.groupBy(quotes, ({ strike }) => strike);
  const points = [...byStrike].map(([strike, of]) => ({
    x: Math.log(strike / forward),
    y: of.reduce((sum, { vol }) => sum + vol, 0) / of.length,
  }));
  return points.toSorted((a, b) => a.x - b.x);
}

/** Vol at 25 delta of the options out of the money; null unless delta falls through it exactly once with the distance from the forward. */
function computeWing(
  quotes: readonly OptionQuote[],
  { type, forward, term }: { type: OptionQuote['type']; forward: number; term: number },
): number | null {
  const isOut = ({ strike }: OptionQuote) => (type === 'C' ? strike >= forward : strike <= forward);
  const wing = quotes.filter((quote) => quote.type === type && isOut(quote));
  const outward = wing.toSorted((a, b) => Math.abs(Math.log(a.strike / forward)) - Math.abs(Math.log(b.strike / forward)));
  const points = outward.map(({ strike, vol }) => ({ x: computeDelta({ strike, vol, forward, term, type }), y: vol }));
  const last = points.findIndex(({ x }) => x <= DELTA);
  if (last === -1 || points.slice(last).some(({ x }) => x > DELTA)) return null;
  return interpolate(points.slice(Math.max(0, last - 1), last + 1).toReversed(), DELTA);
}

/** Absolute Black-76 delta on the forward. */
function computeDelta({
  strike,
  vol,
  forward,
  term,
  type,
}: { forward: number; term: number } & Pick<OptionQuote, 'strike' | 'vol' | 'type'>): number {
  const deviation = vol * Math.sqrt(term);
  const call = normalCdf(Math.log(forward / strike) / deviation + deviation / 2);
  return type === 'C' ? call : 1 - call;
}

/** Linear between neighbours of ascending `x`; null outside. */
export function interpolate(points: readonly Point[], x: number): number | null {
  const above = points.findIndex((point) => point.x >= x);
  if (above === -1) return null;
  if (points[above].x === x) return points[above].y;
  if (above === 0) return null;
  const [low, high] = [points[above - 1], points[above]];
  return low.y + ((high.y - low.y) * (x - low.x)) / (high.x - low.x);
}
