import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../src/forecast/day.ts';
import { getStepDueMs, getWindowOpensMs } from '../../../src/pipeline/forecaster.ts';
import { OUTCOME_STEPS, runStep } from '../../../src/pipeline/pipeline.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { openA2aJsonRpc } from '../../support/agent-clients/a2a.ts';
import type { OpenAgentClient } from '../../support/agent-clients/client.ts';
import { openMcpHttp } from '../../support/agent-clients/mcp.ts';
import { openRest, openTasks } from '../../support/agent-clients/rest.ts';
import { loginToken } from '../../support/auth/login.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { cli } from '../../support/service/cli.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

const DAYS = 10;
const FIRST_DAY = today() - DAYS;
const [LATE_DAY, MISSED_DAY] = [FIRST_DAY + 3, FIRST_DAY + 5];

let service: TestService;
let served: Served;
let token: string;
beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = FIRST_DAY; day < today(); day++) {
    if (day === LATE_DAY) await runVoidDay(day, getStepDueMs('signal', day));
    else if (day === MISSED_DAY) await runVoidDay(day, getWindowOpensMs(day) + MINUTE_MS);
    else await runPastDay(service, day);
  }
  await service.infrastructure.localChain!.followWallClock();
  service.progress.complete();
  served = await serve(service);
  token = await loginToken(service, 'basic');
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

/** A day that is attested after its window has opened. */
async function runVoidDay(day: number, signalMs: number): Promise<void> {
  const after = getWindowOpensMs(day) + 10 * MINUTE_MS;
  const steps: [number, StepName][] = [
    [signalMs, 'signal'],
    [after, 'attest'],
    ...OUTCOME_STEPS.map((step): [number, StepName] => [after, step]),
  ];
  for (const [ms, step] of steps) {
    await service.infrastructure.localChain!.setNextBlockTime(ms);
    const result = await runStep(service.pipeline, step, day, { ...contextAt(ms), replayed: true });
    if ('failed' in result) throw new Error(`${step} failed: ${result.failed}`);
  }
}

interface Answer {
  verdict: string;
  agreeing: number;
  total: number;
  checks: { check: string; what: string; ok: boolean; open: string | null; differences: object[] }[];
  unchecked: { check: string; what: string; reason: string }[];
}

async function verifyByUrl(uid: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${served.url}/api/svc/onchain-oracle/verify/${uid}`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

async function verifyBySkill(open: OpenAgentClient, predictionId: string, access: { token?: string } = {}): Promise<Answer> {
  const client = await open({ url: served.url, ...access });
  const outcome = await client.run('verify_prediction', { predictionId });
  await client.close();
  if (!outcome.ok) throw new Error(outcome.code);
  return outcome.output as unknown as Answer;
}

async function verifyByCommand(id: string): Promise<Answer> {
  const { rpcUrl, contracts } = service.infrastructure;
  const where = ['--rpc', rpcUrl, '--eas', contracts.eas, '--attester', service.http.wallets.attester.address, '--url', served.url];
  const { out, err } = await cli(['verify', id, ...where, '--json']);
  if (out === '') throw new Error(err);
  const { words, ...report } = JSON.parse(out);
  return { ...report, verdict: words.replace(/^\w+(?: so far)?: |\.$/g, '') };
}

/** By each interface, as an anonymous caller, and as one of the Basic tier. */
async function verifyEverywhere({ _id, attestation, reveal }: ForecastDoc) {
  const uids = [attestation!.uid, ...(reveal === null ? [] : [reveal.uid])];
  const anonymous: Record<string, Answer> = {
    'REST skill': await verifyBySkill(openRest, _id),
    MCP: await verifyBySkill(openMcpHttp, _id),
    A2A: await verifyBySkill(openA2aJsonRpc, _id),
    'svc verify': await verifyByCommand(_id),
  };
  for (const [index, uid] of uids.entries()) anonymous[`GET verify/{uid} ${index}`] = await verifyByUrl(uid);
  const basic = {
    'tasks/send': await verifyBySkill(openTasks, _id, { token }),
    'GET verify/{uid}': await verifyByUrl(uids[0]!, { Authorization: `Bearer ${token}` }),
  };
  return { anonymous, basic };
}

const listEntries = ({ checks, unchecked }: Answer) => ({
  checks: checks.map(({ check, what, ok, differences }) => ({ check, what, ok, differences })),
  unchecked: unchecked.map(({ check, what }) => ({ check, what })),
});

const PREDICTION = [
  'found',
  'uid',
  'schema',
  'attester',
  'permanent',
  'blockTime',
  'data',
  'windows',
  'inTime',
  'onePrediction',
  'link',
  'metadata',
];

describe.each<[string, object, { checks: string[]; unchecked: string[]; failing?: string[] }]>([
  [
    'pending',
    { horizonDays: 7, state: 'PENDING' },
    { checks: [...PREDICTION, 'sequence', 'row', 'move'], unchecked: ['revealed', 'opening'] },
  ],
  [
    'resolved',
    { horizonDays: 2, reveal: { $ne: null } },
    {
      checks: [
        ...PREDICTION,
        ...['resolves', 'oneResolution', 'afterWindow', 'revealed', 'opening', 'values', 'return', 'outcome'],
        ...['sequence', 'row', 'move', 'distributions', 'scores'],
      ],
      unchecked: ['price'],
    },
  ],
  ['late', { horizonDays: 1, day: LATE_DAY }, { checks: [...PREDICTION, 'void', 'sequence', 'row'], unchecked: [], failing: ['inTime'] }],
  [
    'missed',
    { horizonDays: 1, day: MISSED_DAY },
    { checks: [...PREDICTION.filter((check) => check !== 'inTime'), 'void', 'sequence', 'row'], unchecked: [] },
  ],
])('a %s forecast', (_, filter, expected) => {
  let answers: Awaited<ReturnType<typeof verifyEverywhere>>;
  beforeAll(async () => {
    const doc = await service.pipeline.record.forecasts.findOne(filter, { sort: { day: -1 } });
    answers = await verifyEverywhere(doc!);
  });

  it('has one list of checks, entry by entry, with one count, over every interface', () => {
    const { 'svc verify': reference, ...others } = answers.anonymous;
    expect(reference!.checks.map(({ check }) => check)).toEqual(expected.checks);
    expect(reference!.unchecked.map(({ check }) => check)).toEqual(expected.unchecked);
    expect(reference!.checks.flatMap(({ check, ok }) => (ok ? [] : [check]))).toEqual(expected.failing ?? []);
    for (const [name, answer] of Object.entries(others)) {
      expect(listEntries(answer), name).toEqual(listEntries(reference!));
      expect([answer.agreeing, answer.total, answer.verdict], name).toEqual([reference!.agreeing, reference!.total, reference!.verdict]);
    }
    const count = `${expected.checks.length - (expected.failing ?? []).length} of ${expected.checks.length + expected.unchecked.length} checks`;
    expect(reference!.verdict).toContain(count);
  });

  it('has the same checks for the Basic tier, which may make more of them', () => {
    const [task, url] = [answers.basic['tasks/send'], answers.basic['GET verify/{uid}']];
    const { 'REST skill': anonymous } = answers.anonymous;
    expect(listEntries(url)).toEqual(listEntries(task));
    const ids = ({ checks, unchecked }: Answer) => [...checks, ...unchecked].map(({ check }) => check).toSorted();
    expect(ids(task)).toEqual(ids(anonymous!));
    expect(task.total).toBe(anonymous!.total);
  });
});
