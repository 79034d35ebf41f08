import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLiveContext } from '../../../src/pipeline/forecaster.ts';
import { runStep } from '../../../src/pipeline/pipeline.ts';
import { loginToken } from '../../support/auth/login.ts';
import { type CurlLine, curlLines, documentText, scriptIn } from '../../support/docs/documents.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { fullService } from '../../support/service/full-service.ts';
import { OPERATOR, type OperatorDoor, operatorDoor } from '../../support/service/operator.ts';
import { spawnNode, type TestService, today } from '../../support/service/service.ts';
import { describeVerifying } from './verify-by-hand.ts';

/** Packages are found from it. */
const CACHE = resolve(import.meta.dirname, '../../../node_modules/.cache/scripts');

const readme = documentText('README.md');
const api = documentText('docs/API.md');
const paying = documentText('docs/PAYING.md');
const events = documentText('docs/EVENTS.md');

let service: TestService;
let served: OperatorDoor;

beforeAll(async () => {
  service = await fullService();
  // Until 03:00 UTC that of today is not due.
  const brief = await runStep(service.pipeline, 'brief', today() - 1, createLiveContext(service.pipeline, new Date()));
  expect(brief).toHaveProperty('done');
  await service.push.publish();
  served = await operatorDoor(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

const keyOf = (name: string) => service.infrastructure.demo!.wallets[name]!.privateKey;

/** A script of a document, as a reader would start it: saved in this folder, though not where it would be seen. */
async function run(script: string, words: string[], environment: Record<string, string>) {
  await mkdir(CACHE, { recursive: true });
  const file = join(CACHE, `${randomUUID()}.mjs`);
  await writeFile(file, script);
  const ended = await spawnNode([file, ...words], { SERVICE_URL: served.url, ...environment }).ended;
  await rm(file);
  return ended;
}

describe('the script that logs in', () => {
  it.each([[[]], [['siwe']]])('prints a token that opens what is gated %j', async (words) => {
    const { code, output } = await run(scriptIn(api, 'login.mjs'), words, { PRIVATE_KEY: keyOf('premium') });
    expect(code, output).toBe(0);
    const headers = { Authorization: `Bearer ${output.trim()}` };
    const response = await fetch(`${served.url}/api/svc/oracle`, { headers });
    expect(await response.json()).toMatchObject({ success: true, access: { tier: 'premium' } });
  });

  it('says why a wallet gets none', async () => {
    const { code, output } = await run(scriptIn(api, 'login.mjs'), [], { PRIVATE_KEY: keyOf('poor') });
    expect(code).toBe(1);
    expect(output).toContain('TIER_REQUIRED');
  });
});

it('the script that checks a commitment finds it on chain, and before its window', async () => {
  const environment = { TOKEN: await loginToken(service, 'basic'), RPC_URL: service.infrastructure.rpcUrl };
  const { code, output } = await run(scriptIn(api, 'check.mjs'), [], environment);
  expect(code, output).toBe(0);
  expect(output).toBe('{ committed: true, beforeItsWindow: true }\n');
});

it('the script that verifies the card finds its key', async () => {
  const { code, output } = await run(scriptIn(api, 'card.mjs'), [], {});
  expect(code, output).toBe(0);
  expect(output).toMatch(/^Bitcoin Signal Oracle: signed by [\w-]{43}\n$/);
});

it('the scripts that pay, check the receipt and open what was bought do so', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'oracle-paying-'));
  const inFolder = (script: string) => script.replaceAll("'answer.json'", JSON.stringify(join(folder, 'answer.json')));
  const paid = await run(inFolder(scriptIn(paying, 'pay.mjs')), [], { PRIVATE_KEY: keyOf('buyer') });
  expect(paid.code, paid.output).toBe(0);
  expect(paid.output).toMatch(/signal: '(BUY|SELL|HOLD)'.*paid: '0\.01'/s);
  const checked = await run(inFolder(scriptIn(paying, 'receipt.mjs')), [], {});
  expect(checked.output).toBe('{ bySeller: true, ofThisAnswer: true, paidAsSaid: true }\n');
  const words = [join(folder, 'answer.json')];
  const opened = await run(scriptIn(api, 'check.mjs'), words, { RPC_URL: service.infrastructure.rpcUrl });
  expect(opened.output).toBe('{ committed: true, beforeItsWindow: true }\n');
  await removeFolder(folder);
});

it('the script that pays says why it could not', async () => {
  const { code, output } = await run(scriptIn(paying, 'pay.mjs'), [], { PRIVATE_KEY: keyOf('poor') });
  expect(code).toBe(1);
  expect(output).toContain('PAYMENT_REQUIRED');
});

describeVerifying(() => ({ SERVICE_URL: served.url, RPC_URL: service.infrastructure.rpcUrl }));

/** A registration sends nothing to it. */
const DISCORD_WEBHOOK_URL = 'https://discord.com/api/webhooks/1234567890/abcdefgh-IJKLMNOP_qrst';

/** Lines that are there to show an error, or that stand for values of the reader's own. */
const REFUSED: [RegExp, number][] = [
  [/horizon=9d/, 400],
  [/"wallet":"0x\.\.\."/, 400],
  [/daily-brief\?date=/, 404],
  [/^curl http:\/\/127\.0\.0\.1:3000\/api\/svc\/oracle$/, 401],
  [/^curl (-i )?"?http:\/\/127\.0\.0\.1:3000\/oracle\b/, 402],
];

describe.each([
  ['README.md', readme],
  ['docs/API.md', api],
  ['docs/EVENTS.md', events],
  ['docs/OPERATE.md', documentText('docs/OPERATE.md')],
  ['docs/PAYING.md', paying],
])('each line of curl in %s', (_, text) => {
  it('gets the answer that it is there for', async () => {
    const values: Record<string, string> = { uid: await someUid(), wallet: `0x${'12'.repeat(20)}` };
    const lines = curlLines(text);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) {
      const response = await send(line, values);
      const answer = await response.text();
      const [, refused] = REFUSED.find(([pattern]) => pattern.test(line.line)) ?? [];
      if (refused === undefined) expect(response.ok, `${line.line}\n${answer}`).toBe(true);
      else expect(response.status, `${line.line}\n${answer}`).toBe(refused);
      if (line.url.endsWith('/webhooks/register')) values.id = JSON.parse(answer).id;
      if (line.url.endsWith('/tasks/send')) values.id = JSON.parse(answer).result.id;
    }
  });
});

async function send({ method, url, headers, body }: CurlLine, values: Record<string, string>): Promise<Response> {
  const address = url.replace('http://127.0.0.1:3000', served.url).replaceAll(/<(\w+)>/g, (_, name) => values[name]);
  const { Authorization, ...others } = headers;
  const authorization = Authorization === undefined ? {} : { Authorization: await credentials(Authorization) };
  const sent = body?.replace('$DISCORD_WEBHOOK_URL', DISCORD_WEBHOOK_URL);
  return fetch(address, { method, headers: { ...others, ...authorization }, body: sent });
}

/** Each with a token of its own, since one of the lines ends its session. */
async function credentials(written: string): Promise<string> {
  const { ADMIN_USER, ADMIN_PASSWORD } = OPERATOR;
  if (written === 'Basic $ADMIN_USER:$ADMIN_PASSWORD') return `Basic ${Buffer.from(`${ADMIN_USER}:${ADMIN_PASSWORD}`).toString('base64')}`;
  expect(written).toBe('Bearer $TOKEN');
  return `Bearer ${await loginToken(service, 'premium')}`;
}

async function someUid(): Promise<string> {
  const { data } = (await (await fetch(`${served.url}/api/svc/onchain-oracle/latest`)).json()) as { data: { uid: string } };
  return data.uid;
}
