import { type Benchmark, type Comparison, median } from '../benchmark.ts';
import { type LongService, startLongService } from './long-service.ts';

const YEAR_DAYS = 365;
const GOAL_RATIO = 1.5;
const WARM_UP_REQUESTS = 4;
/** Requests of a round, one after the other. */
const REQUESTS = 20;
/** Timers and the network stack alone differ by so much: shorter times count as this. */
const NOISE_MS = 2;

type Read = LongService['reads'][number];

/** Every operation that only reads, as a Premium caller, on a record of one year and on one of ten. */
export const GROWTH: Benchmark = {
  name: 'growth',
  what: 'every read on a record of ten years, against the same read on a record of one',
  async run({ rounds, report }) {
    const [year, decade] = [await startLongService(YEAR_DAYS), await startLongService(10 * YEAR_DAYS)];
    try {
      report(`${'operation'.padEnd(28)} ${'p50, ms'.padStart(16)} ${'p99, ms'.padStart(16)} ${'kB'.padStart(14)}  p99 of ten years : one`);
      const found: Growth[] = [];
      for (const read of year.reads) {
        const same = decade.reads.find(({ operationId }) => operationId === read.operationId);
        if (same !== undefined) found.push(await compareRead({ year, decade, read, same, rounds }));
      }
      for (const growth of found.toSorted((a, b) => b.ratio - a.ratio)) report(formatGrowth(growth));
      return [toComparison(found)];
    } finally {
      await year.stop();
      await decade.stop();
    }
  },
};

interface Timed {
  ms: number[];
  bytes: number;
}

interface Growth {
  operationId: string;
  year: Timed;
  decade: Timed;
  /** Of the 99th percentiles. */
  ratio: number;
}

interface ComparedRead {
  year: LongService;
  decade: LongService;
  read: Read;
  same: Read;
  rounds: number;
}

async function compareRead({ year, decade, read, same, rounds }: ComparedRead): Promise<Growth> {
  const one: Timed = { ms: [], bytes: 0 };
  const ten: Timed = { ms: [], bytes: 0 };
  for (let index = 0; index < WARM_UP_REQUESTS + rounds * REQUESTS; index++) {
    await time(year, read, one);
    await time(decade, same, ten);
  }
  one.ms.splice(0, WARM_UP_REQUESTS);
  ten.ms.splice(0, WARM_UP_REQUESTS);
  const ratio = Math.max(NOISE_MS, percentile(ten.ms, 0.99)) / Math.max(NOISE_MS, percentile(one.ms, 0.99));
  return { operationId: read.operationId, year: one, decade: ten, ratio };
}

async function time({ url }: LongService, { path, headers }: Read, into: Timed): Promise<void> {
  const startedAt = performance.now();
  const response = await fetch(`${url}${path}`, { headers });
  into.bytes = (await response.arrayBuffer()).byteLength;
  into.ms.push(performance.now() - startedAt);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

function formatGrowth({ operationId, year, decade, ratio }: Growth): string {
  const pair = (of: (timed: Timed) => number) => `${of(year).toFixed(1)} -> ${of(decade).toFixed(1)}`;
  const cells = [pair(({ ms }) => median(ms)).padStart(16), pair(({ ms }) => percentile(ms, 0.99)).padStart(16)];
  return `${operationId.padEnd(28)} ${cells.join(' ')} ${pair(({ bytes }) => bytes / 1_000).padStart(14)}  ${ratio.toFixed(2)}${ratio > GOAL_RATIO ? '  above the goal' : ''}`;
}

function toComparison(found: readonly Growth[]): Comparison {
  const p99 = (side: 'year' | 'decade') => found.map((growth) => percentile(growth[side].ms, 0.99));
  const above = found.filter(({ ratio }) => ratio > GOAL_RATIO).map(({ operationId }) => operationId);
  return {
    kind: 'time',
    work: `p99 of ${found.length} reads`,
    meaning: `ours: ten years, baseline: one; above ${GOAL_RATIO} times: ${above.length === 0 ? 'none' : above.join(', ')}`,
    baseline: p99('year'),
    ours: p99('decade'),
    goalRatio: GOAL_RATIO,
  };
}
