import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/auth/caller.ts';
import { deriveSalt } from '../../../src/chain/eas/eas.ts';
import { computeCommitment } from '../../../src/chain/eas/schemas.ts';
import { viewEvent } from '../../../src/events/event-view.ts';
import { PAYLOADS, PUSHED_NAMES, type PushedEvent, type PushedName } from '../../../src/events/events.ts';
import { type AnyEvent, type AnyEventDraft, buildForecastDrafts, buildRegimeDrafts, buildWagerDrafts } from '../../../src/events/log.ts';
import { buildUndecidedWager, type WagerDoc } from '../../../src/wager/wagers.ts';
import { settledWager } from '../../integration/pipeline/steps/wager-fixtures.ts';
import { undocumented } from '../../support/http/reply-schema.ts';
import { buildTestDay } from '../record/day-fixture.ts';
import { buildTestForecast } from '../record/forecast-fixture.ts';

const options = {
  saltSecret: 'a master secret of a test',
  policy: 'resolution' as const,
  publicUrl: 'https://oracle.example',
  chainId: 8453,
};
const BASIC: Caller = { tier: 'basic', wallet: '0x1111111111111111111111111111111111111111' };
const PREMIUM: Caller = { ...BASIC, tier: 'premium' };
/** Was let in once, and holds too little now. */
const FALLEN: Caller = { ...BASIC, tier: 'public' };
const at = new Date('2026-01-05T21:35:00Z');

const settled: WagerDoc = { ...settledWager(20_458, 'WIN'), market: { ...settledWager(20_458, 'WIN').market!, question: 'Above 1?' } };
const disabled: AnyEventDraft = {
  ...{ type: 'webhook.disabled', key: 'k', at, horizonDays: null, wallet: BASIC.wallet! },
  content: {
    webhookId: '9d0c2c9a-40cf-4ad3-8e0c-6a9d2f6dbb5e',
    url: 'https://hooks.example/a',
    reason: 'it answered 410',
    failingSince: null,
  },
};

const DRAFTS: AnyEventDraft[] = [
  ...buildForecastDrafts(buildTestForecast(), { change: 'made', at }),
  ...buildForecastDrafts(buildTestForecast(), { change: 'attested', at }),
  ...buildForecastDrafts(buildTestForecast({ state: 'WIN' }), { change: 'resolved', at }),
  ...buildWagerDrafts(settled, { change: 'placed', at }),
  ...buildWagerDrafts(settled, { change: 'settled', at }),
  ...buildRegimeDrafts(buildTestDay(20_458, { regime: 'CRISIS' }), { regime: 'CHOP' }),
  disabled,
];

const events = DRAFTS.map((draft, index) => ({ ...draft, _id: index + 1, appendedAt: at }) as AnyEvent);
const eventOf = (type: PushedName) => events.find((event) => event.type === type)!;
const seenBy = (caller: Caller, type: PushedName, policy: 'resolution' | 'immediate' = 'resolution') =>
  viewEvent(eventOf(type), caller, { ...options, policy });
const dataFor = <Name extends PushedName>(caller: Caller, type: Name) => (seenBy(caller, type) as PushedEvent<Name>).data;

describe('what a caller sees of an event', () => {
  it.each(PUSHED_NAMES)('%s comes in the envelope, every field of it described, for every tier', (type) => {
    for (const caller of [BASIC, PREMIUM, FALLEN]) {
      const seen = seenBy(caller, type);
      expect(Object.keys(seen)).toEqual(['id', 'type', 'timestamp', 'data']);
      expect(PAYLOADS[type].strict().safeParse(seen.data).error).toBeUndefined();
      expect(undocumented(PAYLOADS[type], seen.data)).toEqual([]);
    }
  });

  it('names the horizon of every event that has one', () => {
    const named = events.map((event) => [event.horizonDays, (viewEvent(event, BASIC, options).data as { horizon?: string }).horizon]);
    expect(named.filter(([days]) => days !== null)).toHaveLength(4);
    for (const [days, horizon] of named) expect(horizon).toBe(days === null ? undefined : `${days}d`);
  });

  it('has the fields of the interface', () => {
    expect(dataFor(BASIC, 'signal.new')).toMatchObject({
      ...{ signal: 'BUY', confidence: 0.5876, direction: 'UP', btcPrice: 90_000, regime: 'CHOP', horizon: '7d' },
    });
    expect(dataFor(BASIC, 'signal.resolved')).toMatchObject({
      ...{ date: '2026-01-05', direction: 'UP', outcome: 'WIN', btcAtSignal: 90_000, btcAtResolution: 91_000 },
    });
    expect(dataFor(BASIC, 'wager.placed')).toMatchObject({ market: 'Above 1?', side: 'YES', amount: 5.1, odds: 1.960784, placed: true });
    expect(dataFor(BASIC, 'wager.settled')).toMatchObject({ outcome: 'WIN', payout: 10, pnl: 4.9, pnlMicros: 4_900_000 });
    expect(dataFor(BASIC, 'regime.changed')).toMatchObject({ from: 'CHOP', to: 'CRISIS', riskLevel: 'Extreme' });
    expect(dataFor(BASIC, 'attestation.created')).toMatchObject({ type: 'prediction', status: 'PENDING', chain: 'eip155:8453' });
  });

  it('has the size of the move for every tier, and whether it was big once it is resolved', () => {
    const { moveSize, pBig, ...moveLimits } = buildTestForecast().move!;
    for (const caller of [BASIC, PREMIUM, FALLEN]) {
      expect(dataFor(caller, 'signal.new')).toMatchObject({ moveSize, pBig, moveLimits, moveSizeBefore: null });
      expect(dataFor(caller, 'signal.resolved')).toMatchObject({ moveSize, pBig, big: false });
    }
    const viewResolved = (change: object) => {
      const doc = { ...buildTestForecast({ state: 'WIN' }), ...change };
      const draft = buildForecastDrafts(doc, { change: 'resolved', at })[0]!;
      const { data } = viewEvent({ ...draft, _id: 1, appendedAt: at } as AnyEvent, BASIC, options);
      expect(PAYLOADS['signal.resolved'].strict().safeParse(data).error).toBeUndefined();
      return data;
    };
    const { resolution } = buildTestForecast({ state: 'WIN' });
    for (const cents of [9_480_000, 8_540_000]) {
      expect(viewResolved({ resolution: { ...resolution, btcAtResolutionCents: cents } })).toMatchObject({ big: true });
    }
    // As stored before the move was forecast.
    expect(viewResolved({ move: undefined })).toMatchObject({ moveSize: null, pBig: null, big: null });
  });

  it('has a wager without a winner as neither won nor lost', () => {
    const wager = settledWager(20_458, 'VOID');
    const [draft] = buildWagerDrafts(wager, { change: 'settled', at });
    const event = { ...draft!, _id: 1, appendedAt: at } as AnyEvent;
    const { data } = viewEvent(event, BASIC, options);
    expect(data).toMatchObject({ winner: null, outcome: 'VOID', payout: 5, pnl: -0.1 });
    expect(PAYLOADS['wager.settled'].strict().safeParse(data).error).toBeUndefined();
    expect(viewEvent(event, FALLEN, options).data).toMatchObject({ winner: null, outcome: null, payout: null });
  });

  it('lets a Basic caller verify a signal against its commitment, with more fields for Premium', () => {
    const data = dataFor(BASIC, 'signal.new');
    const opening = {
      ...({ salt: data.salt as `0x${string}`, signal: 'BUY', direction: 'UP', btcPriceCents: Math.round(data.btcPrice * 100) } as const),
      ...{ confidenceBps: Math.round(data.confidence! * 10_000), pUpBps: Math.round(data.pUp! * 10_000) },
    };
    const doc = buildTestForecast();
    const expected = { ...opening, salt: deriveSalt(options.saltSecret, doc._id), confidenceBps: 5876, pUpBps: 5876 };
    expect(computeCommitment(opening)).toBe(computeCommitment(expected));
    expect(data.premium).toBeNull();
    expect(dataFor(PREMIUM, 'signal.new').premium).toMatchObject({ climatology: 0.54, threshold: 0.06 });
    expect(dataFor(BASIC, 'wager.placed').premium).toBeNull();
    expect(dataFor(PREMIUM, 'wager.placed').premium).toMatchObject({ pModel: 0.6, qMarket: 0.5 });
  });

  describe.each([
    ['without a market', buildUndecidedWager({ name: 'paper', asset: 'PAPER-USD' }, 20_458, at), 'none'],
    [
      'without an edge',
      { ...settled, state: 'SKIPPED', side: null, contracts: 0, costMicros: 0, placedAt: null, winner: null } satisfies WagerDoc,
      'Above 1?',
    ],
    [
      'that was decided and not placed',
      { ...settled, state: 'SKIPPED', side: 'NO', contracts: 5, costMicros: 0, placedAt: null, winner: null } satisfies WagerDoc,
      'Above 1?',
    ],
  ] as const)('of a day %s', (_, doc, market) => {
    const [draft] = buildWagerDrafts({ ...doc, skippedBecause: 'x'.repeat(5_000) }, { change: 'skipped', at });
    const seen = (caller: Caller) =>
      (viewEvent({ ...draft, _id: 1, appendedAt: at } as AnyEvent, caller, options) as PushedEvent<'wager.placed'>).data;

    it('has the fields of the interface, none of them null, and the reason', () => {
      for (const caller of [BASIC, PREMIUM]) {
        expect(PAYLOADS['wager.placed'].strict().safeParse(seen(caller)).error).toBeUndefined();
        expect(seen(caller)).toMatchObject({ date: '2026-01-05', placed: false, market, side: 'NONE', amount: 0, odds: 0, placedAt: null });
        expect(seen(caller).reason).toHaveLength(300);
      }
    });

    it('hides from a wallet below Basic whether a wager was placed', () => {
      const placed = dataFor(FALLEN, 'wager.placed');
      const hidden = { placed: null, reason: null, side: null, amount: null, odds: null, placedAt: null, premium: null };
      expect(seen(FALLEN)).toMatchObject(hidden);
      expect(placed).toMatchObject(hidden);
      expect(Object.keys(seen(FALLEN)).sort()).toEqual(Object.keys(placed).sort());
    });
  });

  it('gates unresolved values for a wallet below Basic, unless the policy is immediate', () => {
    const types = ['signal.new', 'wager.placed', 'wager.settled', 'attestation.created'] as const;
    const text = JSON.stringify(types.map((type) => seenBy(FALLEN, type)));
    for (const secret of [
      /"UP"/,
      /"DOWN"/,
      /"BUY"/,
      /"SELL"/,
      /0\.5876/,
      /"salt":"0x/,
      /"side":"/,
      /5\.1/,
      /1\.96/,
      /"outcome":"/,
      /4900000/,
    ])
      expect(text).not.toMatch(secret);
    expect(text).toContain('"signal":"GATED"');
    expect(seenBy(FALLEN, 'signal.new', 'immediate').data).toMatchObject({ signal: 'BUY', premium: null });
  });
});
