import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { asTier, loginToken } from '../../support/auth/login.ts';
import { manualClock } from '../../support/clock/manual-clock.ts';
import { documentText, ROOT } from '../../support/docs/documents.ts';
import { type PushService, pushService, servePush } from '../../support/events/push-service.ts';
import { listening } from '../../support/webhooks/receiver.ts';

let service: PushService;
let served: Awaited<ReturnType<typeof servePush>>;
beforeAll(async () => {
  service = await pushService();
  served = await servePush(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

const keyOf = (name: string) => service.infrastructure.demo!.wallets[name]!.privateKey;

/** A client at work. */
interface Running {
  child: ChildProcess;
  /** Lines of its standard output, and of the other. */
  lines: string[];
  errors: string[];
  /** Resolves once its lines satisfy a condition. @throws Error with what it wrote when it ends before */
  until(isEnough: (running: Running) => boolean): Promise<void>;
}

function run(words: string[], environment: Record<string, string>): Running {
  const child = spawn(process.execPath, words, { cwd: ROOT, env: { ...process.env, SERVICE_URL: served.url, ...environment } });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const running: Running = { child, lines: [], errors: [], until };
  const looks = new Set<() => void>();
  for (const [stream, lines] of [
    [child.stdout, running.lines],
    [child.stderr, running.errors],
  ] as const) {
    createInterface(stream).on('line', (line) => {
      lines.push(line);
      for (const look of looks) look();
    });
  }
  function until(isEnough: (running: Running) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => isEnough(running) && resolve();
      looks.add(look);
      child.once('close', () => reject(new Error(`it ended: ${[...running.lines, ...running.errors].join('\n')}`)));
      look();
    });
  }
  return running;
}

// biome-ignore lint/suspicious/noExplicitAny: what is printed is what is tested
const parsed = (lines: readonly string[]): any[] => lines.map((line) => JSON.parse(line));
const has =
  (words: string) =>
  ({ errors }: Running) =>
    errors.some((line) => line.includes(words));
const lastId = () => service.push.events.lastId();
const upTo =
  (id: number) =>
  ({ lines }: Running) =>
    parsed(lines).some((event) => event.id === id);

describe('watch.mjs', () => {
  const watch = (environment: Record<string, string> = {}, ...words: string[]) =>
    run(['examples/receivers/watch.mjs', ...words], { PRIVATE_KEY: keyOf('premium'), RECONNECT_SECONDS: '0.1', ...environment });

  it('prints what is there, what comes, and after a drop what came meanwhile: each event once, in order', async () => {
    await service.liveDay();
    const watching = watch({ HORIZONS: 'all' }, '0');
    await watching.until(upTo(await lastId()));
    const { port } = served;
    await served.close();
    await watching.until(has('No service answers'));
    const ends = watching.errors.filter((line) => /closed|No service/.test(line));
    expect(ends[0]).toMatch(/^closed: 1001 .*; again in 0\.1 s$/);
    expect(ends[1]).toBe(`No service answers at ${served.url} (ECONNREFUSED; SERVICE_URL names another); again in 0.1 s`);
    await service.liveDay();
    served = await servePush(service, { port });
    await watching.until(upTo(await lastId()));
    await service.liveDay();
    await watching.until(upTo(await lastId()));
    const ids = parsed(watching.lines).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: await lastId() }, (_, index) => index + 1));
  });

  it('ends quietly when nobody reads it any more', async () => {
    const watching = watch({}, '0');
    await watching.until(({ lines }) => lines.length > 0);
    watching.child.stdout!.destroy();
    const ended = once(watching.child, 'exit');
    await service.liveDay();
    expect(await ended).toEqual([0, null]);
    expect(watching.errors).toEqual([expect.stringMatching(/^connected as premium/)]);
  });

  it('starts with new events, and subscribes to fewer on request', async () => {
    const watching = watch({ EVENTS: 'signal.new,regime.changed', HORIZONS: '7d' });
    await watching.until(has('connected as premium'));
    const before = await service.push.events.lastId();
    await service.liveDay();
    await watching.until(({ lines }) => lines.length >= 2);
    const events = parsed(watching.lines);
    expect(events.map(({ type, data }) => `${type} ${data.horizon}`).toSorted()).toEqual(['regime.changed undefined', 'signal.new 7d']);
    expect(events.every(({ id }) => id > before)).toBe(true);
  });

  it('needs no key beside a demonstration service, and a slash that ends its address does no harm', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'oracle-watch-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'demo.json'), JSON.stringify(service.infrastructure.demo));
    const watching = watch({ PRIVATE_KEY: '', DATA_DIR: folder, SERVICE_URL: `${served.url}/` });
    await watching.until(has('connected as premium'));
  });

  it('says what it needs where there is no demonstration wallet', async () => {
    const watching = watch({ PRIVATE_KEY: '', DATA_DIR: '/nowhere' });
    const [exitCode] = await once(watching.child, 'close');
    expect(exitCode).toBe(1);
    expect(watching.errors.join('\n')).toContain('Set PRIVATE_KEY');
  });

  it('takes a fresh token before the old one ends', async () => {
    // As the connection sees it, the token expires in little more than the minute of advance notice.
    const clock = manualClock(new Date(Date.now() + 28.8 * 60_000));
    const late = await servePush(service, { clock });
    onTestFinished(late.close);
    const watching = watch({ SERVICE_URL: late.url });
    await watching.until(has('connected as premium'));
    clock.advance(20_000);
    await watching.until(has('goes on until'));
    expect(watching.errors.filter((line) => line.startsWith('closed'))).toEqual([]);
  });

  it.each([
    ['a wallet without a balance', { key: 'poor', words: [] }, 'TIER_REQUIRED'],
    ['an event that has not happened', { key: 'basic', words: ['999999'] }, 'INPUT_INVALID'],
  ])('says why it is rejected: %s', async (_, { key, words }, code) => {
    const watching = watch({ PRIVATE_KEY: keyOf(key) }, ...words);
    const [exitCode] = await once(watching.child, 'close');
    expect(exitCode).toBe(1);
    expect(watching.errors.join('\n')).toContain(code);
  });
});

it('the line of docs/EVENTS.md that needs nothing but Node prints what is there and what comes', async () => {
  await service.liveDay();
  const [, line] = /^ {4}npx node -e "(.*)"$/m.exec(documentText('docs/EVENTS.md'))!;
  const code = line.replace('ws://127.0.0.1:3000', served.url.replace('http', 'ws')).replace('$TOKEN', await loginToken(service, 'basic'));
  const watching = run(['-e', code], {});
  await watching.until(upTo(await lastId()));
  expect(parsed(watching.lines)[0]).toMatchObject({ type: 'connected', data: { tier: 'basic' } });
  const { port } = served;
  const ended = once(watching.child, 'close');
  await served.close();
  await ended;
  served = await servePush(service, { port });
  expect(watching.errors.join()).toContain('closed 1001');
});

const OWN_SECRET = 'a text of mine, with an ü in it';
const MADE_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('receivers of webhooks', () => {
  it.each([
    ['webhook-receiver.mjs', 'examples/receivers/webhook-receiver.mjs', MADE_SECRET],
    ['webhook-receiver.mjs with a text of its owner', 'examples/receivers/webhook-receiver.mjs', OWN_SECRET],
  ])('%s prints what the service has signed, and nothing else', async (_, file, secret) => {
    const { receiver, url, id } = await started(file, secret);
    await service.liveDay();
    await receiver.until(({ lines }) => countOf(lines) === 4);
    const forged = await fetch(url, { method: 'POST', body: '{"type":"signal.new"}', headers: FORGED });
    expect(forged.status).toBe(401);
    await post(`/api/svc/webhooks/${id}/test`, {});
    await receiver.until(({ lines }) => lines.some((line) => line.includes('ping')));
    expect(countOf(receiver.lines)).toBe(4);
  });

  it('webhook-receiver.mjs says which secret it needs', async () => {
    const receiver = run(['examples/receivers/webhook-receiver.mjs'], { WEBHOOK_SECRET: '' });
    const [exitCode] = await once(receiver.child, 'close');
    expect(exitCode).toBe(1);
    expect(receiver.errors.join('\n')).toContain('Set WEBHOOK_SECRET to');
  });

  it('webhook-receiver.mjs prints once what is sent again', async () => {
    const { receiver, id } = await started('examples/receivers/webhook-receiver.mjs', MADE_SECRET);
    await service.liveDay();
    await receiver.until(({ lines }) => countOf(lines) === 4);
    expect(await post(`/api/svc/webhooks/${id}/replay`, { sinceId: 0 })).toMatchObject({ queued: expect.any(Number) });
    // In order: what happens now comes after what is sent again.
    await service.liveDay();
    const last = await service.push.events.lastId();
    const newest = parsed(receiver.lines).at(-1).id;
    await receiver.until(({ lines }) => parsed(lines).some((event) => event.id > newest && event.data.horizon === '7d'));
    const ids = parsed(receiver.lines).map((event) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(Math.max(...ids)).toBeLessThanOrEqual(last);
  });
});

const FORGED = {
  'webhook-id': 'evt_forged',
  'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
  'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
};

const countOf = (lines: readonly string[]) => lines.filter((line) => line.includes('signal.new')).length;

/** A receiver that listens, and a webhook that leads to it. */
async function started(file: string, secret: string) {
  const { port, close } = await listening(createServer());
  await close();
  const url = `http://127.0.0.1:${port}/`;
  const receiver = run([file], { WEBHOOK_SECRET: secret, RECEIVER_PORT: String(port) });
  while (!(await answers(url))) await delay(25);
  const { id } = await post('/api/svc/webhooks/register', { url, events: ['signal.new'], horizons: 'all', secret });
  onTestFinished(
    async () => void (await fetch(`${served.url}/api/svc/webhooks/${id}`, { method: 'DELETE', headers: await asTier(service, 'basic') })),
  );
  return { receiver, url, id };
}

const answers = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  );

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
async function post(path: string, body: object): Promise<any> {
  const headers = { ...(await asTier(service, 'basic')), 'content-type': 'application/json' };
  const response = await fetch(served.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}
