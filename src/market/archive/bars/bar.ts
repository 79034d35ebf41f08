import { median } from '../../prices/quorum.ts';
import type { MaskedValue } from '../archive-series.ts';

/** Of the five minutes from `opensAtMs` on; prices in USD, volume in BTC. */
export interface Bar {
  opensAtMs: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

export const BAR_MS = 5 * 60_000;
/** 24 hours. */
export const BARS_PER_DAY = 288;

/** Bars on each side of one that say whether its prices are plausible. */
const NEIGHBOURS = 12;
const MAX_DISTANCE = 0.1;
/** Within this distance another venue confirms a price. */
const CONFIRMED_WITHIN = 0.03;

export interface CheckedBars {
  bars: Bar[];
  masked: MaskedValue[];
}

/** Of the window, by time; bars that contradict themselves are masked. */
export function checkBars(received: readonly Bar[], startMs: number): CheckedBars {
  const endMs = startMs + BARS_PER_DAY * BAR_MS;
  const within = received.filter(({ opensAtMs }) => opensAtMs >= startMs && opensAtMs < endMs);
  const bars: Bar[] = [];
  const masked: MaskedValue[] = [];
  for (const [opensAtMs, [bar, ...others]] of Map.groupBy(within, (one) => one.opensAtMs)) {
    const reason = others.length > 0 ? 'is sent twice' : findFault(bar);
    if (reason === null) bars.push(bar);
    else masked.push({ what: new Date(opensAtMs).toISOString(), reason });
  }
  return { bars: bars.toSorted((a, b) => a.opensAtMs - b.opensAtMs), masked };
}

function findFault({ opensAtMs, open, high, low, close, volume }: Bar): string | null {
  if (opensAtMs % BAR_MS !== 0) return 'does not begin with five minutes';
  if (![open, high, low, close].every((price) => price > 0)) return 'price is not positive';
  if (high < low) return 'high is below low';
  if (high < Math.max(open, close) || low > Math.min(open, close)) return 'high and low do not enclose open and close';
  return volume < 0 ? 'volume is negative' : null;
}

/** Masks bars whose high or low is more than 10 % from the closes of the hours around it, unless the other venue was there too. */
export function maskBadTicks({ bars, masked }: CheckedBars, others: readonly Bar[]): CheckedBars {
  const byTime = new Map(others.map((bar) => [bar.opensAtMs, bar]));
  const isBad = (bar: Bar, index: number) => {
    const around = [...bars.slice(Math.max(0, index - NEIGHBOURS), index), ...bars.slice(index + 1, index + 1 + NEIGHBOURS)];
    if (around.length === 0) return false;
    const usual = median(around.map(({ close }) => close));
    const other = byTime.get(bar.opensAtMs);
    return (
      (bar.high > usual * (1 + MAX_DISTANCE) && !(other !== undefined && other.high >= bar.high * (1 - CONFIRMED_WITHIN))) ||
      (bar.low < usual * (1 - MAX_DISTANCE) && !(other !== undefined && other.low <= bar.low * (1 + CONFIRMED_WITHIN)))
    );
  };
  const bad = new Set(bars.filter(isBad));
  const reason = 'price is more than 10 % from those around it, and the other venue does not confirm it';
  return {
    bars: bars.filter((bar) => !bad.has(bar)),
    masked: [...masked, ...[...bad].map(({ opensAtMs }) => ({ what: new Date(opensAtMs).toISOString(), reason }))],
  };
}
