import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Day, formatDay } from '../../../src/forecast/day.ts';
import { getStepDueMs, getWindowOpensMs } from '../../../src/pipeline/forecaster.ts';
import { OUTCOME_STEPS, runStep } from '../../../src/pipeline/pipeline.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { loginToken } from '../../support/auth/login.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { brokenRules } from '../../support/interface-client/check.ts';
import { EVENTS, type ReadEvent, readEvent } from '../../support/interface-client/events.ts';
import * as rules from '../../support/interface-client/fields.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';
import { type Client, openClient } from '../../support/websocket/websocket-client.ts';

const WEEK_DAYS = 7;
/** So that the outcomes of 7-day forecasts come in the week. */
const DAYS_BEFORE = 9;
const FIRST = today() - WEEK_DAYS;

/** What a client that knows the interface alone asks for each day, with the rules that it relies on. */
const DAILY: [path: string, fields: rules.Fields][] = [
  ['/api/svc/open/signal', rules.OPEN_SIGNAL],
  ['/api/svc/oracle', rules.ORACLE],
  ['/api/svc/oracle/premium', rules.PREMIUM],
  ['/api/svc/scorecard', rules.SCORECARD],
  ['/api/svc/widget', rules.WIDGET],
  ['/api/svc/regime', rules.REGIME_NOW],
  ['/api/svc/onchain-oracle/latest', rules.LATEST],
  ['/api/svc/onchain-oracle/history', rules.HISTORY],
  ['/api/svc/onchain-oracle/stats', rules.ATTESTATION_STATS],
  ['/api/svc/agent/reputation', rules.REPUTATION],
];

let service: TestService;
let served: Served;
let receiver: Receiver;
let socket: Client;
let token: string;

beforeAll(async () => {
  service = await testService(WEEK_DAYS + DAYS_BEFORE, { PUSH_LOCAL_TARGETS: 'allow' });
  for (let day = FIRST - DAYS_BEFORE; day < FIRST; day++) await runPastDay(service, day);
  await service.push.publish();
  service.progress.complete();
  await service.webhookDelivery.start();
  served = await serve(service);
  token = await loginToken(service, 'premium');
  receiver = await startReceiver(200);
  await ask('/api/svc/webhooks/register', { url: receiver.url, events: Object.keys(EVENTS), secret: 'sixteen bytes ok' });
  socket = await openClient(`${served.url.replace('http', 'ws')}/ws/signal?token=${token}`);
});
afterAll(async () => {
  socket?.socket.terminate();
  await served?.close();
  await receiver?.close();
  await service?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function ask(path: string, body?: object): Promise<any> {
  const headers = { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
  const sent = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${served.url}${path}`, sent);
  const answer = await response.json();
  expect(response.ok, `${path}: ${JSON.stringify(answer)}`).toBe(true);
  return answer;
}

/** A day as a running service lives it. */
async function liveDay(day: Day): Promise<void> {
  const steps: [number, StepName][] = [
    ...(['signal', 'attest', 'wager'] as const).map((step): [number, StepName] => [getStepDueMs(step, day), step]),
    ...OUTCOME_STEPS.map((step): [number, StepName] => [getWindowOpensMs(day), step]),
  ];
  for (const [ms, step] of steps) {
    await service.infrastructure.localChain!.setNextBlockTime(ms);
    expect(await runStep(service.pipeline, step, day, contextAt(ms)), `${step} of ${formatDay(day)}`).toHaveProperty('done');
  }
  await service.push.publish();
}

/** Reads the answers of a day as the client does. */
async function readDay(date: string): Promise<void> {
  const answers = new Map<string, unknown>();
  for (const [path, fields] of DAILY) {
    answers.set(path, await ask(path));
    expect(brokenRules(fields, answers.get(path)), `${path} on ${date}`).toEqual([]);
  }
  expect(answers.get('/api/svc/onchain-oracle/latest')).toMatchObject({ data: { date } });
  const { predictions } = answers.get('/api/svc/scorecard') as { predictions: { date: string }[] };
  expect(predictions[0].date).toBe(date);
  expect(new Set(predictions.map((row) => row.date)).size).toBe(predictions.length);
  // Keyed by date and type: events of several horizons would overwrite each other.
  const { data } = answers.get('/api/svc/onchain-oracle/history') as { data: { date: string; type: string }[] };
  expect(new Set(data.map((row) => `${row.type} ${row.date}`)).size).toBe(data.length);
  await ask(`/api/svc/onchain-oracle/verify/${(answers.get('/api/svc/onchain-oracle/latest') as { data: { uid: string } }).data.uid}`).then(
    (body) => expect(brokenRules(rules.VERIFIED, body)).toEqual([]),
  );
}

function readAll(messages: readonly unknown[]): ReadEvent[] {
  return messages.map(readEvent).filter((event) => event !== null);
}

const ofType = (events: readonly ReadEvent[], type: string) => events.filter((event) => event.type === type);
const dayOf = ({ timestamp }: ReadEvent) => timestamp.slice(0, 10);

it('a client written from the interface alone goes through a week over REST, WebSocket and webhooks', async () => {
  const dates: string[] = [];
  for (let day = FIRST; day < FIRST + WEEK_DAYS; day++) {
    dates.push(formatDay(day));
    await liveDay(day);
    await readDay(formatDay(day));
  }
  const isLast = ({ type, data }: { type: string; data: { date?: string } }) => type === 'wager.placed' && data.date === dates.at(-1);
  await socket.until(
    (messages) => messages.some(isLast) && messages.filter(({ type }) => type === 'attestation.created').length >= WEEK_DAYS,
  );
  const fromSocket = readAll(socket.messages);
  await receiver.until(fromSocket.length);
  const fromWebhook = readAll(receiver.received.map(({ body }) => JSON.parse(body)));

  for (const events of [fromSocket, fromWebhook]) {
    expect(ofType(events, 'signal.new').map(dayOf)).toEqual(dates);
    expect(ofType(events, 'wager.placed').map(dayOf)).toEqual(dates);
    const predictions = ofType(events, 'attestation.created').filter(({ data }) => data.type === 'prediction');
    expect(predictions.map(dayOf)).toEqual(dates);
    const resolved = ofType(events, 'signal.resolved').map(({ data }) => data.date);
    expect(resolved.length).toBeGreaterThan(0);
    expect(new Set(resolved).size).toBe(resolved.length);
  }
  expect(fromWebhook).toEqual(fromSocket.filter(({ type }) => type !== 'webhook.disabled'));
});
