import { type Day, toDay } from '../../../forecast/day.ts';
import { SERIES } from '../../series/series.ts';
import type { DatedValue, EtfDay, EtfSource } from '../sources/source.ts';
import { clampToReach } from './day-ranges.ts';
import type { CollectDeps } from './deps.ts';
import { fetchWithFallback } from './fetch-with-fallback.ts';
import type { Poll } from './poll.ts';
import { getNextPollMs, saveValues } from './series-poll.ts';

const OVERLAP_DAYS = 10;
type FlowStream = 'etfFlow' | `fundFlow.${string}`;

interface EtfPollPlan {
  /** `etfFlow` stores totals and any flows of single funds; `fundFlows` stores flows of single funds only. */
  id: 'etfFlow' | 'fundFlows';
  /** The primary first. */
  sources: readonly EtfSource[];
  everyMs: number;
}

export function createEtfPoll({ id, sources, everyMs }: EtfPollPlan, deps: CollectDeps): Poll {
  const isWanted = (stream: FlowStream) => id === 'etfFlow' || stream !== 'etfFlow';
  return {
    id,
    everyMs,
    retryMs: everyMs / 8,
    async run(nowMs) {
      const today = toDay(nowMs);
      const range = { from: Math.min((await findLastStoredDay(id, deps)) ?? today, today) - OVERLAP_DAYS, to: today };
      const fetchFlows = async (source: EtfSource) => {
        const reachable = clampToReach(source, range, today);
        const days = reachable === null ? [] : await source.fetch(deps.providers[source.provider], reachable);
        return new Map([...toFlowStreams(days)].filter(([stream]) => isWanted(stream)));
      };
      const findProblem = (streams: Map<FlowStream, DatedValue[]>) =>
        [...streams.values()].flat().some(({ day }) => today - day <= SERIES.etfFlow.staleDays)
          ? null
          : `it has no ${id === 'etfFlow' ? 'flows' : 'flows of single funds'} of the last week`;
      await fetchWithFallback(sources, { fetchFrom: fetchFlows, findProblem }, async ({ provider, value }) => {
        for (const [stream, values] of value) await saveValues(deps, stream, provider, values);
      });
      return getNextPollMs('etfFlow', nowMs);
    },
  };
}

/** The last day with a final value; for `fundFlows`, the maximum over the funds. */
async function findLastStoredDay(id: EtfPollPlan['id'], { stores: { observationCache, observations } }: CollectDeps): Promise<Day | null> {
  if (id === 'etfFlow') return (await observationCache.getHistory(id)).getLastFinalDay();
  const streams = await observations.listFundStreams();
  const days = await Promise.all(streams.map(async (stream) => (await observationCache.getHistory(stream)).getLastFinalDay()));
  const known = days.filter((day) => day !== null);
  return known.length === 0 ? null : Math.max(...known);
}

export function toFlowStreams(days: readonly EtfDay[]): Map<FlowStream, DatedValue[]> {
  const streams = new Map<FlowStream, DatedValue[]>([['etfFlow', []]]);
  for (const { day, totalMusd, fundsMusd } of days) {
    streams.get('etfFlow')!.push({ day, value: totalMusd, providerAtMs: null });
    for (const [ticker, value] of Object.entries(fundsMusd ?? {})) {
      const stream = `fundFlow.${ticker}` as const;
      streams.set(stream, [...(streams.get(stream) ?? []), { day, value, providerAtMs: null }]);
    }
  }
  return streams;
}
