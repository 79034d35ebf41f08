import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openA2aJsonRpc, openA2aRest } from '../../support/agent-clients/a2a.ts';
import type { AgentClient, OpenAgentClient, Outcome } from '../../support/agent-clients/client.ts';
import { openMcpHttp, openMcpStdio } from '../../support/agent-clients/mcp.ts';
import { openRest, openTasks } from '../../support/agent-clients/rest.ts';
import { buildScenarios, type Scenario, type Tier } from '../../support/agent-clients/scenarios.ts';
import { issueKey, revokeKey } from '../../support/auth/api-keys.ts';
import { loginToken } from '../../support/auth/login.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { emptyService, fullService } from '../../support/service/full-service.ts';
import { type TestService, testService } from '../../support/service/service.ts';

/** Transports of the skills. The interface reserves REST tasks for token holders. */
const TRANSPORTS: Record<string, { open: OpenAgentClient; tiers: readonly Tier[]; text: boolean }> = {
  REST: { open: openRest, tiers: ['public', 'basic', 'premium'], text: true },
  'REST tasks': { open: openTasks, tiers: ['basic', 'premium'], text: false },
  'A2A JSON-RPC': { open: openA2aJsonRpc, tiers: ['public', 'basic', 'premium'], text: true },
  'A2A HTTP+JSON': { open: openA2aRest, tiers: ['public', 'basic', 'premium'], text: true },
  'MCP HTTP': { open: openMcpHttp, tiers: ['public', 'basic', 'premium'], text: true },
  'MCP stdio': { open: openMcpStdio, tiers: ['public', 'basic', 'premium'], text: true },
};
const TIERS: readonly Tier[] = ['public', 'basic', 'premium'];

/** Members that change without a new forecast. */
const MOVING = new Set(['timestamp', 'ageSeconds', 'ageDays', 'checkedAt', 'asOf']);
const lasting = (value: unknown) => JSON.parse(JSON.stringify(value, (name, member) => (MOVING.has(name) ? undefined : member)));

async function openedAs(service: TestService, { url }: Served, open: OpenAgentClient, tier: Tier): Promise<AgentClient> {
  return open({ url, ...(tier === 'public' ? {} : { token: await loginToken(service, tier) }) });
}

describe('the answers of the skills', () => {
  let service: TestService;
  let served: Served;
  let scenarios: Scenario[];
  const clients = new Map<string, AgentClient>();
  const asked = new Map<string, Promise<Outcome>>();

  /** Outcome of a scenario over a transport, requested once. */
  function outcomeOver(name: string, tier: Tier, { name: what, skill, input }: Scenario): Promise<Outcome> {
    const key = `${name} as ${tier}: ${what}`;
    const outcome = asked.get(key) ?? clients.get(`${name} as ${tier}`)!.run(skill, input);
    asked.set(key, outcome);
    return outcome;
  }

  function forget({ name: what }: Scenario, tier: Tier): void {
    for (const name of Object.keys(TRANSPORTS)) asked.delete(`${name} as ${tier}: ${what}`);
  }

  beforeAll(async () => {
    service = await fullService();
    served = await serve(service);
    scenarios = await buildScenarios(service);
    for (const [name, { open, tiers }] of Object.entries(TRANSPORTS)) {
      for (const tier of tiers) clients.set(`${name} as ${tier}`, await openedAs(service, served, open, tier));
    }
  });

  afterAll(async () => {
    for (const door of clients.values()) await door.close();
    await served?.close();
    await service?.stop();
  });

  it.each(Object.keys(TRANSPORTS).flatMap((name) => TRANSPORTS[name]!.tiers.map((tier) => [name, tier] as const)))(
    'over %s as %s match the table',
    async (name, tier) => {
      const rows = scenarios.filter(({ tiers, notOver }) => tiers.includes(tier) && notOver?.includes(name) !== true);
      expect(rows.length).toBeGreaterThan(10);
      for (const scenario of rows) {
        const { name: what, expected, over } = scenario;
        const outcome = await outcomeOver(name, tier, scenario);
        if ('output' in expected) expect(outcome, what).toMatchObject({ ok: true, output: expected.output });
        else expect(outcome, what).toMatchObject({ ok: false, ...(over?.[name] ?? expected) });
      }
    },
  );

  it.each(TIERS)('are the same over all transports as %s', async (tier) => {
    const [first, ...others] = Object.entries(TRANSPORTS).filter(([, { tiers }]) => tiers.includes(tier));
    for (const scenario of scenarios) {
      if (!scenario.tiers.includes(tier) || scenario.notOver !== undefined || scenario.over !== undefined) continue;
      const both = async (name: string, text: boolean) => {
        const [reference, outcome] = [await outcomeOver(first![0], tier, scenario), await outcomeOver(name, tier, scenario)];
        return { expected: comparable(reference, text), got: comparable(outcome, text) };
      };
      for (const [name, { text }] of others) {
        const asked = await both(name, text);
        const isSame = isDeepStrictEqual(asked.got, asked.expected);
        // The price may have changed in between, so both are requested again.
        if (!isSame) forget(scenario, tier);
        const { expected, got } = isSame ? asked : await both(name, text);
        expect(got, `${scenario.name} over ${name}`).toEqual(expected);
      }
    }
  });

  it.each(Object.keys(TRANSPORTS))('over %s are those of its tier to an API key, and not once it is revoked', async (name) => {
    const issued = await issueKey(service, 'premium', 'basic');
    const [skill, input] = ['predict_btc_direction', { horizon: '2d' }];
    const client = await TRANSPORTS[name]!.open({ url: served.url, token: issued.key });
    try {
      expect(await client.run(skill, input)).toMatchObject({ ok: true, output: { horizon: '2d' } });
      expect(await revokeKey(service, 'premium', issued)).toBe(true);
      // A client of REST that has a token does not mean to pay; over MCP what is public is an answer.
      const isAnswered = name.startsWith('MCP');
      const refusal = { ok: false, code: 'UNAUTHENTICATED' };
      expect(await client.run(skill, input)).toMatchObject(isAnswered ? { ok: true, output: { signal: 'GATED' } } : refusal);
    } finally {
      await client.close();
    }
  });
});

/** What all transports must agree on; text only where the transport has one. */
function comparable(outcome: Outcome, text: boolean): unknown {
  if (!outcome.ok) return { code: outcome.code, field: outcome.field };
  return { output: lasting(outcome.output), ...(text ? { lines: outcome.text.split('\n').length } : {}) };
}

const FAILING: {
  name: string;
  start(): Promise<TestService>;
  skill: string;
  input: Record<string, unknown>;
  tier: Tier;
  code: string;
  calls: number;
}[] = [
  {
    name: 'before the first forecast',
    start: emptyService,
    skill: 'predict_btc_direction',
    input: {},
    tier: 'basic',
    code: 'STEP_WAITING',
    calls: 1,
  },
  {
    name: 'beyond the limit of calls to the chain',
    start: () => testService(1, { RATE_LIMIT_RPC: '1' }),
    skill: 'verify_prediction',
    input: { uid: `0x${'1'.repeat(64)}` },
    tier: 'public',
    code: 'RATE_LIMITED',
    calls: 2,
  },
];

describe.each(FAILING)('a skill $name', ({ start, skill, input, tier, code, calls }) => {
  let service: TestService;
  let served: Served;

  beforeAll(async () => {
    service = await start();
    served = await serve(service);
  });

  afterAll(async () => {
    await served?.close();
    await service?.stop();
  });

  it.each(Object.entries(TRANSPORTS).filter(([, { tiers }]) => tiers.includes(tier)))(
    'returns the same code over %s',
    async (_, { open }) => {
      const door = await openedAs(service, served, open, tier);
      try {
        let outcome: Outcome | undefined;
        for (let call = 0; call < calls; call++) outcome = await door.run(skill, input);
        expect(outcome).toMatchObject({ ok: false, code });
      } finally {
        await door.close();
      }
    },
  );
});
