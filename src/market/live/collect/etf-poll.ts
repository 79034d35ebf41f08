import { dayOf } from '../../../forecast/day.ts';
import { SERIES } from '../../series.ts';
import type { ProviderId } from '../providers.ts';
import type { DatedValue, EtfDay, EtfSource } from '../source.ts';
import { firstAnswer } from './first-answer.ts';
import { withinReach } from './pages.ts';
import type { Poll } from './poll.ts';
import { type CollectParts, keep, nextPublication } from './series-poll.ts';

const OVERLAP_DAYS = 10;
const HOUR_MS = 3_600_000;

/** Asks for the flows of US spot Bitcoin ETFs: totals, and single funds where a source has them. */
export function etfPoll(sources: readonly EtfSource[], parts: CollectParts): Poll {
  return {
    id: 'etfFlow',
    everyMs: HOUR_MS,
    retryMs: HOUR_MS / 8,
    async run(nowMs) {
      const today = dayOf(nowMs);
      const last = (await parts.stores.memory.stream('etfFlow')).lastFinalDay();
      const range = { from: Math.min(last ?? today, today) - OVERLAP_DAYS, to: today };
      const ask = async (source: EtfSource) => {
        const reachable = withinReach(source, range, today);
        return reachable === null ? [] : source.fetch(parts.providers[source.provider], reachable);
      };
      const complaint = (days: EtfDay[]) =>
        days.some(({ day }) => today - day <= SERIES.etfFlow.staleDays) ? null : 'it has no flows of the last week';
      await firstAnswer(sources, { ask, complaint }, ({ provider, value }) => keepFlows(parts, provider, value));
      return nextPublication('etfFlow', nowMs);
    },
  };
}

/** Totals and funds as the streams they are kept in. */
export function flowStreams(days: readonly EtfDay[]): Map<'etfFlow' | `fundFlow.${string}`, DatedValue[]> {
  const streams = new Map<'etfFlow' | `fundFlow.${string}`, DatedValue[]>([['etfFlow', []]]);
  for (const { day, totalMusd, fundsMusd } of days) {
    streams.get('etfFlow')!.push({ day, value: totalMusd, providerAtMs: null });
    for (const [ticker, value] of Object.entries(fundsMusd ?? {})) {
      const stream = `fundFlow.${ticker}` as const;
      streams.set(stream, [...(streams.get(stream) ?? []), { day, value, providerAtMs: null }]);
    }
  }
  return streams;
}

async function keepFlows(parts: CollectParts, provider: ProviderId, days: readonly EtfDay[]): Promise<void> {
  for (const [stream, values] of flowStreams(days)) await keep(parts, stream, provider, values);
}
