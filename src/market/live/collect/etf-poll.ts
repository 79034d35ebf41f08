import { type Day, dayOf } from '../../../forecast/day.ts';
import { SERIES } from '../../series.ts';
import type { ProviderId } from '../providers.ts';
import type { DatedValue, EtfDay, EtfSource } from '../source.ts';
import { firstAnswer } from './first-answer.ts';
import { withinReach } from './pages.ts';
import type { Poll } from './poll.ts';
import { afterPublication, type CollectParts, keep } from './series-poll.ts';

const OVERLAP_DAYS = 10;

type FlowStream = 'etfFlow' | `fundFlow.${string}`;

export interface FlowPlan {
  /** `etfFlow` wants totals, and takes single funds where they come along; `fundFlows` wants single funds and leaves totals alone. */
  id: 'etfFlow' | 'fundFlows';
  /** The primary first. */
  sources: readonly EtfSource[];
  everyMs: number;
}

/** Asks for the flows of US spot Bitcoin ETFs. */
export function etfPoll({ id, sources, everyMs }: FlowPlan, parts: CollectParts): Poll {
  const isWanted = (stream: FlowStream) => id === 'etfFlow' || stream !== 'etfFlow';
  return {
    id,
    everyMs,
    retryMs: everyMs / 8,
    async run(nowMs) {
      const today = dayOf(nowMs);
      const range = { from: Math.min((await lastKept(id, parts)) ?? today, today) - OVERLAP_DAYS, to: today };
      const ask = async (source: EtfSource) => {
        const reachable = withinReach(source, range, today);
        const days = reachable === null ? [] : await source.fetch(parts.providers[source.provider], reachable);
        return new Map([...flowStreams(days)].filter(([stream]) => isWanted(stream)));
      };
      const complaint = (streams: Map<FlowStream, DatedValue[]>) =>
        [...streams.values()].flat().some(({ day }) => today - day <= SERIES.etfFlow.staleDays)
          ? null
          : `it has no ${id === 'etfFlow' ? 'flows' : 'flows of single funds'} of the last week`;
      await firstAnswer(sources, { ask, complaint }, ({ provider, value }) => keepFlows(parts, provider, value));
      return afterPublication('etfFlow', nowMs);
    },
  };
}

/** The last day with a final value; of single funds, that of the fund which is furthest. */
async function lastKept(id: FlowPlan['id'], { stores: { memory, observations } }: CollectParts): Promise<Day | null> {
  if (id === 'etfFlow') return (await memory.stream(id)).lastFinalDay();
  const streams = await observations.fundStreams();
  const days = await Promise.all(streams.map(async (stream) => (await memory.stream(stream)).lastFinalDay()));
  const known = days.filter((day) => day !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/** Totals and funds as the streams they are kept in. */
export function flowStreams(days: readonly EtfDay[]): Map<FlowStream, DatedValue[]> {
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

async function keepFlows(parts: CollectParts, provider: ProviderId, flows: ReadonlyMap<FlowStream, DatedValue[]>): Promise<void> {
  for (const [stream, values] of flows) await keep(parts, stream, provider, values);
}
