import { describe, expect, it } from 'vitest';
import { listChannelStates } from '../../../src/commerce/commerce.ts';
import { CHANNELS, findOffering, formatMoney, getOfferingId, OFFERINGS } from '../../../src/commerce/offerings.ts';

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
