import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SKILLS } from '../../../../skills/index.ts';
import { formatDay } from '../../../../src/forecast/day.ts';
import { asTier } from '../../../support/auth/login.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { lengthenRecord } from '../../../support/interface-client/record-states.ts';
import { MCP_CLIENTS, type McpClient } from '../../../support/mcp/mcp.ts';
import { callSummaries, countBytes, countWords, joinTexts, MAX_SUMMARY } from '../../../support/mcp/summaries.ts';
import { runPastDay, type TestService, testService, today } from '../../../support/service/service.ts';

const DAYS = 9;
const TIERS = ['public', 'premium'] as const;

let service: TestService;
let served: Served;
let clients: Record<(typeof TIERS)[number], McpClient>;

beforeAll(async () => {
  service = await testService(DAYS);
  await service.http.contest.run();
  served = await serve(service);
  clients = {
    public: await MCP_CLIENTS['2026-07-28'](served.url, {}),
    premium: await MCP_CLIENTS['2025-11-25'](served.url, await asTier(service, 'premium')),
  };
});
afterAll(async () => {
  await Promise.all(Object.values(clients).map((client) => client.close()));
  await served?.close();
  await service?.stop();
});

/** The record grows from age to age. */
const AGES: [string, () => Promise<unknown>][] = [
  ['of no day', async () => undefined],
  ['of one day', () => runPastDay(service, today() - DAYS)],
  ['of nine days', growToNineDays],
  ['of two years', () => lengthenRecord(service, 730).then(() => service.pipeline.figures.refresh())],
];

async function growToNineDays(): Promise<void> {
  for (let day = today() - DAYS + 1; day < today(); day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
}

describe.each(AGES)('summaries of a record %s', (age, grow) => {
  beforeAll(grow, 60_000);

  it.each(TIERS)('have a verdict of few words first, and stay small: %s', async (tier) => {
    const { tools } = await clients[tier].listTools();
    const schemaOf = new Map(tools.map((tool: { name: string; outputSchema: object }) => [tool.name, tool.outputSchema]));
    for (const { tool, input, result } of await callSummaries(clients[tier], formatDay(today() - 1))) {
      const label = `${tool} ${JSON.stringify(input)} ${JSON.stringify(result)}`;
      const words = countWords(result.content[0].text);
      expect(words, label).toBeLessThanOrEqual(MAX_SUMMARY.words);
      expect(countBytes(joinTexts(result)), label).toBeLessThanOrEqual(MAX_SUMMARY.textBytes);
      // Before the first day, and for a day that is not there, tools have nothing to answer.
      if (result.isError === true) {
        expect(['of no day', 'of one day'], label).toContain(age);
        continue;
      }
      expect(countBytes(JSON.stringify(result.structuredContent)), label).toBeLessThanOrEqual(MAX_SUMMARY.structuredBytes);
      expect(new AjvJsonSchemaValidator().getValidator(schemaOf.get(tool) as never)(result.structuredContent).errorMessage).toBeUndefined();
    }
  });
});

/** Questions of a user, the call that answers each, and the facts that its text must have. */
const QUESTIONS: [string, string, () => Record<string, unknown>, RegExp[]][] = [
  [
    'is it any good?',
    'get_track_record',
    () => ({}),
    [/Verdict: .*(distinguishable|better|worse|no calls)/, /95 % interval/, /Brier score/],
  ],
  [
    'what may I rely on?',
    'get_track_record',
    () => ({}),
    [/Certain: times and outcomes, on chain; replayed times excepted/, /Not certain: skill/, /simulated .*no real market/],
  ],
  [
    "how do I check yesterday's?",
    'verify_prediction',
    () => ({ date: formatDay(today() - 1) }),
    [
      /VERIFIED\. \d+ of \d+ checks agree/,
      /on chain since/,
      /hidden until its outcome/,
      /not when it was made, as a demonstration replayed it/,
      /By hand.*getAttestation\(uid\) of 0x\w{40} on eip155:\d+/,
    ],
  ],
  [
    'what does it say today and may I see it?',
    'predict_btc_direction',
    () => ({}),
    [
      /closes between .* at \d{4}-.*hidden from you until its outcome\./s,
      /between \d+ and \d+ at \S+ 00:00 UTC \(80 %, by the model\)/,
      /sign in .*500,000,000 gate tokens/,
      /wait until \d{4}-/,
    ],
  ],
  ['what does it cost?', 'predict_btc_direction', () => ({}), [/pay 0\.001 USD for this answer by x402/, /500,000,000 gate tokens/]],
];

describe('the text of a summary answers', () => {
  it.each(QUESTIONS)('%s', async (_, name, input, facts) => {
    const { content } = await clients.public.callTool({ name, arguments: input() });
    for (const fact of facts) expect(content[0].text).toMatch(fact);
  });

  it('what does it say today?, for a token holder', async () => {
    const { content } = await clients.premium.callTool({ name: 'predict_btc_direction', arguments: {} });
    for (const fact of [
      /^Size of the move over 7d: /,
      /\n(BUY|SELL|HOLD) over 7d: P\(up\) \d/,
      /Window \d{4}-/,
      /\nRecord: /,
      /not proven skill/,
    ])
      expect(content[0].text).toMatch(fact);
  });
});

it.each(Object.keys(MCP_CLIENTS) as (keyof typeof MCP_CLIENTS)[])('lists take little room in the context of a model: %s', async (name) => {
  const client = await MCP_CLIENTS[name](served.url, {});
  expect(countBytes(JSON.stringify(await client.listTools()))).toBeLessThanOrEqual(SKILLS.length * 2_250);
  expect(countBytes(JSON.stringify(await client.listResources()))).toBeLessThan(6_000);
  expect(countBytes(JSON.stringify(await client.listResourceTemplates()))).toBeLessThan(1_500);
  expect(countBytes(JSON.stringify(await client.listPrompts()))).toBeLessThan(1_500);
  for (const prompt of [{ name: 'daily_briefing' }, { name: 'check_prediction', arguments: { date: '2026-01-05' } }])
    expect(countBytes(JSON.stringify(await client.getPrompt(prompt)))).toBeLessThan(1_500);
  await client.close();
});

it('the schema of a tool is a resource with every member of its full answer', async () => {
  for (const { id, output } of SKILLS) {
    const { contents } = await clients.public.readResource({ uri: `oracle://schemas/${id}` });
    const { inputSchema, fullOutputSchema } = JSON.parse(contents[0].text);
    expect(inputSchema.properties).toHaveProperty('form');
    expect(Object.keys(fullOutputSchema.properties)).toEqual(Object.keys(output.shape));
  }
});
