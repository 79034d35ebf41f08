// Today's signal and the record behind it, for everybody: npx node examples/rest/signal.ts [2d|3d|7d]
import { ask } from '../common/service.ts';

interface Signal {
  signal: 'GATED' | 'BUY' | 'SELL' | 'HOLD';
  btcPrice: number;
  fearGreed: number;
  fearGreedLabel: string;
  regime: string;
  timestamp: string;
  resolvesAt: string;
  source: string;
}

interface Scorecard {
  summary: { wins: number; losses: number; holds: number; pending: number; verdict: string };
  /** Newest first. */
  predictions: { date: string; status: string; signal: string; confidence: number | null; returnBps: number | null }[];
}

const horizon = process.argv[2] ?? '7d';
const signal = await ask<Signal>(`/api/svc/open/signal?horizon=${horizon}`);
console.log(`${signal.signal} for ${horizon}, made at ${signal.timestamp}; its outcome is due at ${signal.resolvesAt}`);
console.log(`BTC/USD ${signal.btcPrice}, fear and greed ${signal.fearGreed} (${signal.fearGreedLabel}), regime ${signal.regime}`);
console.log(`Data: ${signal.source}`);

const { summary, predictions } = await ask<Scorecard>(`/api/svc/scorecard?horizon=${Number.parseInt(horizon, 10)}&limit=20`);
console.log(`\nRecord: ${summary.wins} right, ${summary.losses} wrong, ${summary.holds} held, ${summary.pending} pending`);
console.log(`Verdict: ${summary.verdict}`);
// Public once resolved; GATED and null until then.
for (const { date, status, signal: call, confidence, returnBps } of predictions.filter((row) => row.returnBps !== null).slice(0, 5)) {
  console.log(`${date}  ${call} with ${confidence}: ${(returnBps! / 100).toFixed(2)} %, ${status}`);
}
