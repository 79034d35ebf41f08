import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../../../skills/index.ts';
import { formatPrice } from '../../../../../skills/skill.ts';
import { composeAppOptions } from '../../../../../src/app/transports.ts';
import { loadConfig } from '../../../../../src/config.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { type Ask, json, openAsk, type Question } from '../../../../support/http/ask.ts';
import { fetchOpenApi } from '../../../../support/http/openapi.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { youngService } from '../../../../support/service/full-service.ts';
import { HARDLY_LIMITED, type TestService } from '../../../../support/service/service.ts';

let service: TestService;
let served: Served;
let client: ReturnType<typeof openAsk>;

beforeAll(async () => {
  service = await youngService();
  served = await serve(service);
  client = openAsk(served.url);
});
afterAll(async () => {
  client?.close();
  await served?.close();
  await service?.stop();
});

async function ask(path: string, question: Question = {}, by: Ask = client.ask) {
  const answer = await by(path, question);
  return { ...answer, body: answer.text === '' ? null : JSON.parse(answer.text) };
}

const call = (id: string, input?: unknown, headers: Record<string, string> = {}) => {
  const body = input === undefined ? {} : json(input);
  return ask(`${ENDPOINTS.skills}/${id}`, { method: 'POST', ...body, headers: { ...body.headers, ...headers } });
};

describe('the list of skills', () => {
  it('has each skill with its calling conditions, the same for every caller', async () => {
    const { status, headers, body } = await ask(ENDPOINTS.skills);
    expect([status, body.success, body.count]).toEqual([200, true, SKILLS.length]);
    expect(headers['cache-control']).toBe('public, max-age=300');
    for (const [index, skill] of SKILLS.entries()) {
      const { id, title, summary, description, tier, cost } = skill;
      expect(body.skills[index]).toMatchObject({ id, title, summary, description, tier, cost, freshness: skill.freshness });
      expect(body.skills[index].price.description).toBe(formatPrice(skill));
      for (const schema of ['inputSchema', 'outputSchema']) expect(body.skills[index][schema]).toMatchObject({ type: 'object' });
    }
    expect(body.skills.map(({ price }: { price: { singleAnswer: unknown } }) => price.singleAnswer !== null)).toEqual(
      SKILLS.map(({ offering }) => offering !== null),
    );
    const again = await ask(ENDPOINTS.skills, { headers: { 'If-None-Match': headers.etag! } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('names endpoints that exist and inputs that they accept', async () => {
    const { paths } = await fetchOpenApi(served.url);
    const { body } = await ask(ENDPOINTS.skills);
    const basic = await asTier(service, 'basic');
    for (const { id, reachedAt, examples } of body.skills) {
      const path = reachedAt.rest.replace(service.http.publicUrl, '');
      expect(paths[path].post.operationId).toMatch(/^run[A-Z]/);
      expect(reachedAt).toMatchObject({ mcp: { url: `${service.http.publicUrl}/mcp`, tool: id }, a2a: { skill: id } });
      for (const { input } of examples) {
        const answer = await call(id, input, basic);
        // An example may name a day or an attestation that this record does not have.
        expect([200, 404], `${id} ${JSON.stringify(input)}`).toContain(answer.status);
      }
    }
  });
});

describe('a skill call', () => {
  it('returns the output as fields and text, uncached', async () => {
    const doc = (await service.pipeline.record.forecasts.findOne({ horizonDays: 7 }))!;
    const { status, headers, body } = await call('verify_prediction', { predictionId: doc._id });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      skill: 'verify_prediction',
      output: { verified: true },
      text: expect.stringContaining(doc._id),
    });
    expect(headers['cache-control']).toBe('private, no-store');
  });

  it('accepts a missing body as empty input', async () => {
    const [bare, empty] = [await call('get_track_record'), await call('get_track_record', {})];
    expect(bare.status).toBe(200);
    expect({ ...bare.body.output, asOf: null }).toEqual({ ...empty.body.output, asOf: null });
    expect(bare.body.output.filters.horizon).toBe('7d');
    const path = `${ENDPOINTS.skills}/get_track_record`;
    expect((await ask(path, { method: 'POST', body: '', headers: { 'Content-Type': 'application/json' } })).status).toBe(200);
    const { status, body } = await ask(path, { method: 'POST', body: '{"horizon":"2d"}' });
    expect([status, body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect((await call('verify_prediction')).body).toMatchObject({ code: 'INPUT_INVALID', field: 'predictionId' });
  });

  it('returns an error that names the invalid field', async () => {
    expect((await call('get_track_record', { from: '2026-02-02', to: '2026-02-01' })).body).toMatchObject({ status: 400, field: 'from' });
    expect((await call('get_market_context', { sections: ['price'] })).body).toMatchObject({ status: 400, field: 'sections' });
    expect((await call('verify_prediction', { date: '2026-01-05', uid: `0x${'1'.repeat(64)}` })).body).toMatchObject({
      status: 400,
      field: 'uid',
    });
    expect((await call('verify_prediction', { uid: `0x${'1'.repeat(64)}` })).body).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect((await call('of_nobody', {})).body).toMatchObject({ status: 404 });
    expect((await ask(`${ENDPOINTS.skills}/get_market_context`)).status).toBe(405);
  });

  it('of a forecast requires the tier or a payment; a rejected token gets its reason', async () => {
    expect((await call('predict_btc_direction', { horizon: '2d' })).body).toMatchObject({ status: 402, code: 'PAYMENT_REQUIRED' });
    const rejected = await call('predict_btc_direction', {}, { Authorization: 'Bearer expired' });
    expect(rejected.body).toMatchObject({ status: 401, code: 'UNAUTHENTICATED', field: 'Authorization' });
    expect(rejected.headers['www-authenticate']).toContain('error="invalid_token"');
    for (const tier of ['basic', 'premium'] as const) {
      const { status, body } = await call('predict_btc_direction', { horizon: '2d' }, await asTier(service, tier));
      expect([status, body.output.horizon]).toEqual([200, '2d']);
      expect(body.output.signal).toMatch(/^(?:BUY|SELL|HOLD)$/);
    }
  });

  it('returns to Basic callers of public skills what their tier may read', async () => {
    const entry = async (headers = {}) => (await call('get_track_record', {}, headers)).body.output.entries[0];
    expect(await entry()).toMatchObject({ signal: 'GATED', direction: null });
    expect((await entry(await asTier(service, 'basic'))).direction).toMatch(/^(?:UP|DOWN)$/);
  });
});

describe('the limit of chain calls', () => {
  it('counts a verification once and no other skill', async () => {
    const { http } = service;
    const config = loadConfig({ ...HARDLY_LIMITED, RATE_LIMIT_RPC: '2' });
    const { access } = http;
    // In a window of its own, which does not end meanwhile.
    const later = new Date(http.now().getTime() + 3_600_000);
    const now = () => later;
    const door = composeAppOptions({ ...http, config, now }, { identify: (authorization) => access.identify(authorization) });
    const limited = await serve({ ...service, appOptions: door });
    const { ask: by, close } = openAsk(limited.url);
    const post = (id: string, input: object) => ask(`${ENDPOINTS.skills}/${id}`, { method: 'POST', ...json(input) }, by);
    const { _id: predictionId } = (await service.pipeline.record.forecasts.findOne({}))!;
    for (const id of ['get_track_record', 'get_market_context', 'get_track_record']) expect((await post(id, {})).status).toBe(200);
    const statuses = [];
    for (let asked = 0; asked < 3; asked++) statuses.push((await post('verify_prediction', { predictionId })).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await post('get_market_context', {})).status).toBe(200);
    close();
    await limited.close();
  });
});
