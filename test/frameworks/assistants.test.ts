import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SKILLS } from '../../skills/index.ts';
import { type ExampleWorld, exampleWorld } from '../support/docs/example-world.ts';
import { findFreePort } from '../support/http/serve.ts';
import { type Framework, loadAiSdk, loadLangChain, type ToolCall } from './fake-models.ts';

let world: ExampleWorld;
beforeAll(async () => {
  world = await exampleWorld();
});
afterAll(() => world.close());

const FORECAST: ToolCall = { name: 'predict_btc_direction', input: { horizon: '7d' } };

describe.each([
  ['examples/ai-sdk', loadAiSdk],
  ['examples/langchain', loadLangChain],
])('%s', (_, load) => {
  let framework: Framework;
  beforeAll(async () => {
    framework = await load();
  });

  const askWith = async (call: ToolCall, options: { url?: string; token?: string } = {}) => {
    const { model, seen } = framework.fakeModel(call);
    const answer = await framework.ask('How good is it?', { model, url: `${world.url}/mcp`, ...options });
    return { answer, seen: seen() };
  };

  it('offers the skills as tools, and gives the model the instructions of the server', async () => {
    const { seen } = await askWith({ name: 'get_market_context', input: {} });
    expect(seen.tools.toSorted()).toEqual(SKILLS.map(({ id }) => id).toSorted());
    expect(seen.text).toContain('The direction shows no skill that can be distinguished from luck');
    expect(seen.text).toContain('Nothing here is advice to trade');
  });

  it('gives the model the record with its verdict', async () => {
    const { answer } = await askWith({ name: 'get_track_record', input: { horizon: '7d', pageSize: 1 } });
    expect(answer).toContain(`Verdict: ${(await world.scorecard()).summary.verdict}`);
  });

  it('gives the model no direction without a token, and says how to get one', async () => {
    const { answer } = await askWith(FORECAST);
    expect(answer).toMatch(
      /its direction is hidden from you until its outcome.*This needs an access token.*from POST .*\/api\/svc\/oracle\/verify/s,
    );
    expect(answer).not.toMatch(/direction (?:UP|DOWN)/);
  });

  it('gives the model the direction with a token', async () => {
    const { signal, direction } = await world.oracle();
    const { answer } = await askWith(FORECAST, { token: await world.token() });
    expect(answer).toMatch(new RegExp(`${signal} over 7d: .*direction ${direction}, confidence `));
  });

  it('gives the model the field that is wrong in its call', async () => {
    const { answer } = await askWith({ name: 'get_track_record', input: { horizon: '5d' } });
    // LangChain checks the schema of the tool before it calls.
    expect(answer).toMatch(/INPUT_INVALID: input .*horizon|"horizon":"5d".*did not match expected schema/s);
  });

  it('rejects where no service answers', async () => {
    await expect(askWith(FORECAST, { url: `http://127.0.0.1:${await findFreePort()}/mcp` })).rejects.toThrow();
  });
});
