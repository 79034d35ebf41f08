import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CHANNELS,
  findOffering,
  formatAmount,
  formatMoney,
  getOfferingId,
  OFFERINGS,
  parseAmount,
  parseUsd,
  usdFromMicros,
} from '../../../src/commerce/offerings.ts';
import { listChannelStates } from '../../../src/http/routes/offerings.ts';

const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });
const decimals = fc.integer({ min: 0, max: 18 });
const refused = expect.objectContaining({ code: 'INPUT_INVALID', field: 'amount' });

describe('money', () => {
  it('round-trips text of any size and number of decimals', () => {
    fc.assert(
      fc.property(amount, decimals, fc.integer({ min: 0, max: 18 }), (value, places, fewest) => {
        const text = formatAmount({ asset: 'X', amount: value, decimals: places }, Math.min(fewest, places));
        expect(parseAmount(text, places)).toBe(value);
      }),
    );
  });

  it('is formatted by shifting the decimal point', () => {
    fc.assert(
      fc.property(amount, decimals, (value, places) => {
        const [whole = '', fraction = ''] = formatAmount({ asset: 'X', amount: value, decimals: places }, places).split('.');
        expect(fraction).toHaveLength(places);
        expect(BigInt(whole) * 10n ** BigInt(places) + BigInt(fraction || '0')).toBe(value);
      }),
    );
  });

  it('rejects more decimals than the asset has', () => {
    fc.assert(
      fc.property(decimals, fc.integer({ min: 1, max: 6 }), (places, more) => {
        expect(() => parseAmount(`1.${'0'.repeat(places + more)}`, places)).toThrow(refused);
      }),
    );
  });

  it.each(['', '.', '1.', '.5', '-1', '+1', '1e3', '0x10', '1,5', ' 1', '1 ', '١', 'NaN', '1.2.3', '9'.repeat(41)])(
    'rejects %j',
    (text) => {
      expect(() => parseAmount(text, 6)).toThrow(refused);
    },
  );

  it('is never rounded like a float', () => {
    expect(parseUsd('0.1').amount + parseUsd('0.2').amount).toBe(parseUsd('0.3').amount);
    expect(formatAmount(usdFromMicros(9_007_199_254_740_993n))).toBe('9007199254.740993');
  });

  it.each([
    [1_000_000n, '1.00 USD'],
    [1_000n, '0.001 USD'],
    [0n, '0.00 USD'],
    [1_234_500n, '1.2345 USD'],
  ])('shows %s millionths as %s', (amountMicros, shown) => {
    expect(formatMoney(usdFromMicros(amountMicros))).toBe(shown);
  });
});
describe('OFFERINGS', () => {
  it('contains the offerings of the interface at their prices', () => {
    expect(OFFERINGS.map((offering) => [getOfferingId(offering), formatMoney(offering.price)])).toEqual([
      ['purchase:svc_signal_with_proof', '1.00 USD'],
      ['purchase:svc_verified_track_record', '0.50 USD'],
      ['purchase:svc_analysis_report', '2.00 USD'],
      ['purchase:svc_crowd_vs_oracle', '0.50 USD'],
      ['purchase:svc_daily_macro_review', '0.50 USD'],
      ['purchase:svc_alpha_brief', '1.50 USD'],
      ['agent-commerce:svc_bitcoin_signal', '1.00 USD'],
      ['agent-commerce:svc_market_context', '0.25 USD'],
      ['agent-commerce:svc_crowd_vs_oracle', '0.50 USD'],
      ['x402:x402_signal', '0.001 USD'],
      ['x402:x402_premium_signal', '0.01 USD'],
    ]);
  });

  it('is searched by channel and name', () => {
    for (const offering of OFFERINGS) expect(findOffering(offering.channel, offering.name)).toBe(offering);
    expect(findOffering('x402', 'svc_alpha_brief')).toBeNull();
  });

  it('names the offering in each example', () => {
    for (const { channel, name, example } of OFFERINGS) expect(example).toContain(channel === 'x402' ? 'GET /oracle' : `"${name}"`);
  });
});

describe('listChannelStates', () => {
  it('reports a channel as open unless it is closed with a reason', () => {
    expect(listChannelStates({ closed: {} })).toEqual(CHANNELS.map((channel) => ({ channel, open: true, reason: null })));
    const states = listChannelStates({ closed: { 'agent-commerce': 'There is no contract here.' } });
    expect(states.filter(({ open }) => !open)).toEqual([{ channel: 'agent-commerce', open: false, reason: 'There is no contract here.' }]);
  });
});
