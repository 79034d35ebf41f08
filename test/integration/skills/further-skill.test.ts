import type { Task } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { HORIZON_NAMES, parseHorizonDays } from '../../../src/forecast/horizon-input.ts';
import { a2aClient, dataPart, findContent, messageOf, textPart } from '../../support/agent-clients/a2a.ts';
import { json, openAsk } from '../../support/http/ask.ts';
import type { Served } from '../../support/http/serve.ts';
import { MCP_CLIENTS, type McpClient } from '../../support/mcp/mcp.ts';
import type { TestService } from '../../support/service/service.ts';

const ID = 'get_window_length';
const INPUT = { horizon: '3d' };
const OUTPUT = { horizon: '3d', hours: 72 };

vi.doMock('../../../skills/index.ts', async (original) => {
  const { SKILLS } = await original<typeof import('../../../skills/index.ts')>();
  return { SKILLS: [...SKILLS, await defineFurtherSkill()] };
});

/** What a file of `skills/` exports. */
async function defineFurtherSkill() {
  const { defineSkill } = await import('../../../skills/skill.ts');
  const { findHorizon } = await import('../../../skills/text.ts');
  const members = { horizon: z.enum(HORIZON_NAMES).describe('Horizon'), hours: z.int().describe('Hours of its outcome window') };
  return defineSkill({
    id: ID,
    title: 'Length of an outcome window',
    summary: 'The hours between the opening of an outcome window and its end',
    description: 'The hours between the opening of the outcome window of a horizon and its end, which are the same for every forecast.',
    question: 'how many hours does it take?',
    tags: ['bitcoin', 'outcome window', 'hours'],
    examples: [{ say: 'How long is the window of 3 days?', input: INPUT }],
    fromText: { words: [[9, /\b(?:hours|how long)\b/]], read: (text) => ({ horizon: findHorizon(text) as '3d' | undefined }) },
    input: z.strictObject({ horizon: z.enum(HORIZON_NAMES).default('7d').describe('Horizon') }),
    output: z.object(members),
    outline: { schema: z.object(members) },
    tier: 'public',
    offering: null,
    freshness: { description: 'never changes', seconds: 86_400 },
    cost: 'normal',
    errors: [],
    run: async ({ horizon }) => ({ horizon, hours: 24 * parseHorizonDays(horizon) }),
    formatText: ({ horizon, hours }) => `The window of ${horizon} has ${hours} hours.`,
  });
}

let service: TestService;
let served: Served;
let client: ReturnType<typeof openAsk>;

beforeAll(async () => {
  // Suites of this process have loaded the service with its own skills.
  vi.resetModules();
  const [{ emptyService }, { serve }] = await Promise.all([
    import('../../support/service/full-service.ts'),
    import('../../support/http/serve.ts'),
  ]);
  service = await emptyService();
  served = await serve(service);
  client = openAsk(served.url);
});
afterAll(async () => {
  client?.close();
  await served?.close();
  await service?.stop();
  vi.doUnmock('../../../skills/index.ts');
  vi.resetModules();
});

const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const sent = json(body);
  return JSON.parse((await client.ask(path, { method: 'POST', ...sent, headers: { ...sent.headers, ...headers } })).text);
};

describe('a further skill in the list', () => {
  it('answers over REST, and as a task', async () => {
    expect(await post(`/api/svc/skills/${ID}`, INPUT)).toMatchObject({ output: OUTPUT });
    const { asTier } = await import('../../support/auth/login.ts');
    const sent = await post('/api/svc/a2a/tasks/send', { skill: ID, input: INPUT }, await asTier(service, 'basic'));
    expect(sent.result).toMatchObject({ status: 'completed', skill: ID, result: OUTPUT });
  });

  it('answers over A2A, to data and to text', async () => {
    const a2a = await a2aClient({ url: served.url }, 'JSONRPC');
    for (const part of [dataPart({ skill: ID, input: INPUT }), textPart('How many hours are the next 3 days?')]) {
      const { artifacts } = (await a2a.sendMessage(messageOf([part]))) as Task;
      expect(artifacts.map(({ name, parts }) => [name, findContent(parts, 'data')])).toEqual([[ID, OUTPUT]]);
    }
  });

  it('is a tool of MCP that the instructions name, with its schema as a resource', async () => {
    const mcp: McpClient = await MCP_CLIENTS['2026-07-28'](served.url, {});
    expect((await mcp.listTools()).tools.map(({ name }: { name: string }) => name)).toContain(ID);
    expect((await mcp.callTool({ name: ID, arguments: INPUT })).structuredContent).toEqual(OUTPUT);
    expect(mcp.getInstructions()).toContain(`${ID}: how many hours does it take?`);
    expect((await mcp.readResource({ uri: `oracle://schemas/${ID}` })).contents[0].text).toContain('hours');
    await mcp.close();
  });

  it.each(['/.well-known/agent-card.json', '/SKILL.md', '/llms.txt', '/api/svc/skills', '/.well-known/openapi.json'])(
    'is in %s',
    async (path) => {
      expect((await client.ask(path)).text).toMatch(new RegExp(`${ID}|Length of an outcome window`));
    },
  );
});
