import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SKILLS } from '../../../../skills/index.ts';
import { formatDay } from '../../../../src/forecast/day.ts';
import { asTier } from '../../../support/auth/login.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { postMcp, rpc } from '../../../support/mcp/mcp.ts';
import { openStdio } from '../../../support/mcp/mcp-stdio.ts';
import { callSummaries } from '../../../support/mcp/summaries.ts';
import { type TestService, today, unresolvedService } from '../../../support/service/service.ts';

/** Words of payments. `price` is that of bitcoin, `BUY` and `SELL` are signals. */
const PAYMENT_WORDS =
  /\b(pay(s|er|ers|ing|able|ment|ments)?|paid|x402|usdc|stablecoins?|purchase[sd]?|charge[sd]?|costs?|fees?|sold|sells|buyers?|sellers?|merchant|offering|0\.001)\b/i;

/** Parts of an order for money. */
const PAYMENT = { x402Version: 2, accepted: {}, payload: {} };

let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await unresolvedService(1, { MCP_PAYMENTS: 'off' });
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

interface Connection {
  request(method: string, params?: Record<string, unknown>): Promise<unknown>;
}

const overHttp = (headers: Record<string, string>): Connection => ({
  request: async (method, params = {}) => (await postMcp(served.url, rpc(method, params), headers)).messages[0],
});

/** Everything that MCP serves to a client: lists, instructions, answers, errors, resources, prompts and completions. */
async function readEverything({ request }: Connection): Promise<unknown[]> {
  const lists = await Promise.all(
    ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].map((method) => request(method)),
  );
  const { resources } = (lists[1] as { result: { resources: { uri: string }[] } }).result;
  const date = formatDay(today() - 1);
  const call = (name: string, args: object) => request('tools/call', { name, arguments: args });
  const client = { callTool: ({ name, arguments: args = {} }: { name: string; arguments?: object }) => call(name, args) };
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  return [
    ...lists,
    await request('initialize', hello),
    await callSummaries(client, date),
    await Promise.all(SKILLS.map(({ id }) => call(id, { form: 'full', ...(id === 'verify_prediction' && { date }) }))),
    await Promise.all(SKILLS.map(({ id }) => call(id, { access: 'pay' }))),
    await Promise.all(resources.map(({ uri }) => request('resources/read', { uri }))),
    await request('prompts/get', { name: 'daily_briefing' }),
    await request('prompts/get', { name: 'check_prediction', arguments: { date } }),
    await request('completion/complete', { ref: { type: 'ref/prompt', name: 'check_prediction' }, argument: { name: 'date', value: '' } }),
  ];
}

const findWords = (received: unknown[]) => [...new Set(received.flatMap((one) => findIn(JSON.stringify(one))))];
const findIn = (text: string) => [...text.matchAll(new RegExp(PAYMENT_WORDS, 'gi'))].map(({ index }) => text.slice(index - 60, index + 40));

describe('MCP without payments', () => {
  it('has no skills, because SKILL.md says how to pay', async () => {
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { result } = (await overHttp({}).request('initialize', hello)) as { result: { capabilities: object } };
    expect(result.capabilities).not.toHaveProperty(['extensions', 'io.modelcontextprotocol/skills']);
    expect(await overHttp({}).request('skills/list')).toMatchObject({ error: { code: -32_601 } });
  });

  it.each(['public', 'basic'] as const)('names none anywhere: %s', async (tier) => {
    const received = await readEverything(overHttp(await asTier(service, tier)));
    expect(findWords(received)).toEqual([]);
  });

  it('answers the forecast with its public part, and two ways to the rest', async () => {
    const { result } = (await overHttp({}).request('tools/call', { name: 'predict_btc_direction', arguments: {} })) as {
      result: { structuredContent: { ways: { way: string }[] } };
    };
    expect(result.structuredContent).toMatchObject({ signal: 'GATED' });
    expect(result.structuredContent.ways.map(({ way }) => way)).toEqual(['sign in', 'wait']);
  });

  it('rejects a payment, whatever the tool', async () => {
    for (const name of ['predict_btc_direction', 'get_market_context']) {
      const answer = await overHttp({}).request('tools/call', { name, arguments: {}, _meta: { 'x402/payment': PAYMENT } });
      expect(answer).toMatchObject({
        result: {
          isError: true,
          content: [
            {
              text: expect.stringMatching(
                /^NOT_IMPLEMENTED: This connection takes no payment\nField: x402\/payment\n.*nothing was charged/,
              ),
            },
          ],
        },
      });
    }
  });

  it('names none over stdio', async () => {
    const { client } = await openStdio({ environment: { ORACLE_URL: served.url, MCP_PAYMENTS: 'off' } });
    const gated = await client.callTool({ name: 'predict_btc_direction', arguments: {} });
    expect(gated).toMatchObject({ structuredContent: { signal: 'GATED' } });
    expect(findWords([await client.listTools(), client.getInstructions(), gated])).toEqual([]);
    await client.close();
  });
});

it('with payments names them, so the test above detects them', async () => {
  const { client } = await openStdio({ environment: { ORACLE_URL: served.url } });
  const gated = await client.callTool({ name: 'predict_btc_direction', arguments: {} });
  for (const part of [await client.listTools(), client.getInstructions(), gated]) expect(findWords([part])).not.toEqual([]);
  await client.close();
});
