import { isOracleError, type OracleError } from '../../platform/errors.ts';
import type { Feed, SpotPrice } from '../feed.ts';
import { computeChange24hPct } from '../prices/stored-closes.ts';
import { readSeries } from '../series/series-reading.ts';

/** The last known price, whatever its age. */
export interface ReportPrice extends SpotPrice {
  stale: boolean;
}

/** The spot price, or the last daily close marked stale. @throws OracleError PRICE_UNAVAILABLE when no price was ever known */
export async function getReportPrice(feed: Feed, atMs: number, maxAgeMs: number): Promise<ReportPrice> {
  try {
    const spot = await feed.spot(atMs);
    return { ...spot, stale: atMs - spot.observedAtMs > maxAgeMs };
  } catch (error) {
    if (!isOracleError(error, 'PRICE_UNAVAILABLE')) throw error;
    return getLastClosePrice(feed, atMs, error);
  }
}

async function getLastClosePrice(feed: Feed, atMs: number, cause: OracleError): Promise<ReportPrice> {
  const { reading, known } = await readSeries(feed, 'btcClose', atMs);
  if (reading.value === null || reading.observedAtMs === null) throw cause;
  const { value: priceUsd, observedAtMs, source } = reading;
  const change24hPct = computeChange24hPct(known.values.at(-2) ?? null, priceUsd);
  return { priceUsd, observedAtMs, source: `daily close of ${source}`, change24hPct, stale: true };
}
