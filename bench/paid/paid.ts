import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { SERVICE_FLAGS } from '../../test/support/service/running-service.ts';
import type { Benchmark, BenchOptions, Comparison } from '../benchmark.ts';
import { startChild } from '../child.ts';
import type { PaidClientAnswers } from './client-process.ts';
import type { FacilitatorAnswers } from './facilitator-process.ts';
import type { PaidServiceAnswers } from './service-process.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PATH = '/oracle?horizon=7d';
const PAIRS_A_ROUND = 20;
/** Pairs that both sides run before anything counts. */
const WARM_UP_PAIRS = 40;
const GOAL_RATIO = 1.15;

/** `remote`: both sides use one stock facilitator. `own`: ours settles by itself, as without `X402_FACILITATOR_URL`. */
type FacilitatorMode = 'remote' | 'own';

const MEANINGS: Record<FacilitatorMode, string> = {
  remote: 'from a signed payment to its whole answer; both sides use the same stock facilitator over HTTP',
  own: 'the same with the facilitator of the service itself, which settles in its process',
};

/** What exactly-once sales, ledger and receipts add to the time of a payment. */
export const PAID: Benchmark = {
  name: 'paid',
  what: `GET ${PATH} paid by x402 on an instant local chain, against the same handler behind @x402/express`,
  async run(options) {
    execFileSync(process.execPath, ['bin/dev/install-package.mjs', 'bench/paid'], { cwd: ROOT, stdio: 'inherit' });
    return [...(await compare('remote', options)), ...(await compare('own', options))];
  },
};

async function compare(mode: FacilitatorMode, { rounds, report }: BenchOptions): Promise<Comparison[]> {
  const facilitator = await startChild<FacilitatorAnswers>('paid/facilitator-process.ts');
  const service = await startChild<PaidServiceAnswers>('paid/service-process.ts', [await facilitator.ask('url'), mode], SERVICE_FLAGS);
  const client = await startChild<PaidClientAnswers>('paid/client-process.ts');
  try {
    await facilitator.ask('connect', await service.ask('chain'));
    const urls = [await service.ask('stockUrl'), `${await service.ask('url')}${PATH}`];
    const buyer = await service.ask('buyer');
    report(`  ${rounds * PAIRS_A_ROUND} pairs of payments, one at a time, facilitator: ${mode}`);
    await client.ask('buy', { urls, buyer, times: WARM_UP_PAIRS });
    const [baseline, ours] = await client.ask('buy', { urls, buyer, times: rounds * PAIRS_A_ROUND });
    return toComparisons(MEANINGS[mode], { baseline, ours, goalRatio: mode === 'remote' ? GOAL_RATIO : undefined });
  } finally {
    await service.ask('stop');
    await Promise.all([facilitator, service, client].map((child) => child.end()));
  }
}

interface Latencies {
  baseline: number[];
  ours: number[];
  goalRatio: number | undefined;
}

function toComparisons(meaning: string, { baseline, ours, goalRatio }: Latencies): Comparison[] {
  const p99 = { baseline: [percentile(baseline, 0.99)], ours: [percentile(ours, 0.99)] };
  return [
    { kind: 'time', work: 'a paid request', meaning, baseline, ours, goalRatio },
    { kind: 'time', work: 'the slowest paid request in a hundred', meaning, ...p99, goalRatio },
  ];
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
