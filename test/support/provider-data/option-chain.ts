/** A quote as Deribit's book summary has it. */
export interface SummaryFixture {
  instrument_name: string;
  mark_iv: number | null;
  underlying_price: number;
  bid_price: number | null;
  ask_price: number | null;
  creation_timestamp: number;
  [other: string]: unknown;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAY_MS = 86_400_000;

interface ChainOptions {
  /** Days from the next 08:00 UTC. */
  expiries?: number[];
  /** In percent, by strike over forward. */
  vol?(moneyness: number, days: number): number;
  forward?: number;
}

/** Summaries of calls and puts with strikes from 70 % to 130 % of the forward. */
export function buildChain(nowMs: number, { expiries = [0, 1, 2, 3, 7, 14], vol = () => 50, forward = 100_000 }: ChainOptions = {}) {
  const firstMs = Math.floor((nowMs - 8 * 3_600_000) / DAY_MS + 1) * DAY_MS + 8 * 3_600_000;
  return expiries.flatMap((days) =>
    Array.from({ length: 61 }, (_, index) => (forward * (70 + index)) / 100).flatMap((strike) =>
      ['C', 'P'].map(
        (type): SummaryFixture => ({
          instrument_name: `BTC-${formatExpiry(firstMs + days * DAY_MS)}-${strike}-${type}`,
          mark_iv: vol(strike / forward, days),
          underlying_price: forward,
          bid_price: 0.01,
          ask_price: 0.011,
          creation_timestamp: nowMs,
          ...{ volume: 0.55, open_interest: 1, interest_rate: 0, mark_price: 0.0105, base_currency: 'BTC', quote_currency: 'BTC' },
        }),
      ),
    ),
  );
}

function formatExpiry(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()}${MONTHS[date.getUTCMonth()]}${String(date.getUTCFullYear()).slice(2)}`;
}
