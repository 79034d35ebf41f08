import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeTrackRecord } from '../../../src/commerce/documents/track-record.ts';
import { toInstantMs } from '../../../src/forecast/day.ts';
import { wilsonInterval } from '../../../src/forecast/signal.ts';
import { runBriefStep } from '../../../src/pipeline/steps/reports.ts';
import { toSummaryRow } from '../../../src/record/scorecard.ts';
import { buildHorizonFigures, recompute } from '../../../src/verify/checks/record.ts';
import { openA2aJsonRpc } from '../../support/agent-clients/a2a.ts';
import type { OpenAgentClient } from '../../support/agent-clients/client.ts';
import { openMcpHttp } from '../../support/agent-clients/mcp.ts';
import { openRest } from '../../support/agent-clients/rest.ts';
import { asTier } from '../../support/auth/login.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { cli } from '../../support/service/cli.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

const DAYS = 9;
/** Midnight may pass during the test. */
const TODAY = today();
const HORIZON = 2;

interface Share {
  n: number;
  wins: number;
  accuracy: number;
  interval95: { low: number; high: number };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
type Answer = any;

let service: TestService;
let served: Served;
let share: Share;
beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = TODAY - DAYS; day < TODAY; day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  await makeVaried();
  service.progress.complete();
  served = await serve(service);
  const { summary } = await json(`/api/svc/scorecard?horizon=${HORIZON}`);
  share = { n: summary.resolved, wins: summary.wins, accuracy: summary.accuracy, interval95: summary.accuracyInterval95 };
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

/** A fixed simulation with about two thirds right calls on overlapping windows. */
async function makeVaried(): Promise<void> {
  const { forecasts } = service.pipeline.record;
  for (const { _id, sequence, resolution } of await forecasts.find({ reveal: { $ne: null } }).toArray()) {
    const outcome = sequence % 3 === 0 ? 'LOSS' : 'WIN';
    const direction = (outcome === 'WIN') === (resolution?.actualDirection === 'UP') ? 'UP' : 'DOWN';
    const said = { 'values.signal': direction === 'UP' ? 'BUY' : 'SELL', 'values.direction': direction } as const;
    await forecasts.updateOne({ _id }, { $set: { state: outcome, 'resolution.outcome': outcome, ...said } });
  }
}

async function json(path: string, tier: 'public' | 'premium' = 'public'): Promise<Answer> {
  const response = await fetch(`${served.url}${path}`, { headers: await asTier(service, tier) });
  expect(response.status, path).toBe(200);
  return response.json();
}

/** The report of 03:00 UTC, after all reveals. */
const brief = () => runBriefStep(service.pipeline, TODAY, { ...contextAt(toInstantMs(TODAY, 3)), replayed: true });

async function skill(open: OpenAgentClient) {
  const door = await open({ url: served.url });
  const outcome = await door.run('get_track_record', { horizon: `${HORIZON}d` });
  await door.close();
  if (!outcome.ok) throw new Error(outcome.code);
  return outcome as { output: Answer; text: string };
}

const scorecard = () => json(`/api/svc/scorecard?horizon=${HORIZON}`);
const svc = (...words: string[]) =>
  cli(['scorecard', '--horizon', `${HORIZON}d`, '--url', served.url, ...words], { columns: 200 }).then(({ out }) => out);
const ofHorizon = (rows: Answer[]) => rows.find(({ horizon }) => horizon === `${HORIZON}d`);

const ofRow = ({ resolved, wins, accuracy, accuracyInterval95 }: Answer): Share => ({
  ...{ n: resolved, wins, accuracy, interval95: accuracyInterval95 },
});
const ofCalls = ({ n, hits, accuracy, wilson95 }: Answer): Share => ({ n, wins: hits, accuracy, interval95: wilson95 });

/** Transports with numeric figures. */
const NUMBERS: Record<string, () => Promise<Share>> = {
  'scorecard, by horizon': async () => ofRow(ofHorizon((await scorecard()).byHorizon)),
  'scorecard, statistics': async () => ofCalls((await scorecard()).statistics.calls),
  'REST skill, statistics': async () => ofCalls((await skill(openRest)).output.statistics.calls),
  'MCP, summary': async () => ofRow((await skill(openMcpHttp)).output.statistics),
  'MCP, whole record': async () => ofRow((await skill(openMcpHttp)).output.wholeRecord),
  'A2A, by horizon': async () => ofRow(ofHorizon((await skill(openA2aJsonRpc)).output.byHorizon)),
  'Basic answer': async () => {
    const { scored, effectiveN, accuracy, interval95, verdict } = (await json(`/api/svc/oracle?horizon=${HORIZON}d`, 'premium')).skill;
    // The answer contains all inputs of the figure.
    expect(wilsonInterval(accuracy * effectiveN, effectiveN)).toEqual(interval95);
    return { n: scored, wins: Number(/: (\d+) of /.exec(verdict)![1]), accuracy, interval95 };
  },
  'daily brief': async () => ofRow(ofHorizon((await brief()).scorecard)),
  'Premium answer': async () => ofCalls((await json(`/api/svc/oracle/premium?horizon=${HORIZON}d`, 'premium')).scorecard.statistics.calls),
  'document that is sold': async () => ofRow(ofHorizon((await composeTrackRecord(service.http)).horizons as Answer[]).statistics),
  'svc, as JSON': async () => ofRow(JSON.parse(await svc('--json')).summary),
  'what the audit recomputes of these rows': async () =>
    ofRow(buildHorizonFigures(recompute(service.pipeline.record.known.listByHorizon(HORIZON).map(toSummaryRow), HORIZON)) as Answer),
};

/** Transports with the figure in text; `in hundredths` is the rounding of the card. */
const WORDS: Record<string, { ask: () => Promise<string>; inHundredths?: true }> = {
  verdict: { ask: async () => (await scorecard()).summary.verdict },
  'verdict of the Basic answer': { ask: async () => (await json(`/api/svc/oracle?horizon=${HORIZON}d`, 'premium')).skill.verdict },
  'REST skill': { ask: async () => (await skill(openRest)).text },
  MCP: { ask: async () => (await skill(openMcpHttp)).text },
  A2A: { ask: async () => (await skill(openA2aJsonRpc)).text },
  'document that is sold': {
    ask: async () => (await composeTrackRecord(service.http)).sentences.find((words) => words.startsWith(`${HORIZON}d: `))!,
  },
  'svc scorecard': { ask: () => svc() },
  'svc scorecard, below the verdict': { ask: async () => (await svc()).split('\n').find((line) => line.includes('Right '))! },
  'card to embed': {
    ask: async () => (await fetch(`${served.url}/api/svc/widget?format=html&horizon=${HORIZON}d`)).text(),
    inHundredths: true,
  },
};

/** First interval of a text, and the counts before it. */
const FIRST = /(\d+) of (\d+)\b(?:(?!\d+ of \d+)[^;])*?95 % interval ([\d.]+)(?: %)? to ([\d.]+)/;

describe('the share of right calls', () => {
  it('comes from overlapping windows, so that intervals could differ', () => {
    expect(share.n).toBeGreaterThan(5);
    expect(share.wins).toBeLessThan(share.n);
    expect(share.interval95.low).toBeGreaterThan(0);
  });

  it.each(Object.entries(NUMBERS))('has the same interval over every transport: %s', async (_, figures) => {
    expect(await figures()).toEqual(share);
  });

  it.each(Object.entries(WORDS))('comes first, with the same text over every transport: %s', async (_, { ask, inHundredths }) => {
    const text = (await ask()).replaceAll(/\s+/g, ' ');
    const { low, high } = share.interval95;
    const bounds = [low, high].map((bound) => (inHundredths ? (100 * bound).toFixed(0) : bound.toFixed(2)));
    expect(FIRST.exec(text)?.slice(1), text).toEqual([String(share.wins), String(share.n), ...bounds]);
  });
});
