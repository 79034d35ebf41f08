import { describe, expect, it } from 'vitest';
import { createEtfFlowFilter } from '../../../../src/market/inputs.ts';
import { sliceKnownAt } from '../../../../src/market/series.ts';
import { buildObservations } from '../memory-feed.ts';

const flows = buildObservations('etfFlow', [
  [100, 5],
  [101, 0],
  [102, -3],
  [103, 8],
]);
const sp500 = buildObservations('sp500', [
  [100, 1],
  [102, 1],
]);

describe('createEtfFlowFilter', () => {
  it('drops flows of exchange holidays', () => {
    const kept = createEtfFlowFilter().update(flows, sp500);
    expect([...kept.days]).toEqual([100, 102]);
    expect([...kept.values]).toEqual([5, -3]);
  });

  it('delays a flow until the S&P 500 of its day is known', () => {
    const flowDays = createEtfFlowFilter();
    flowDays.update(flows, sp500);
    const later = buildObservations('sp500', [
      [100, 1],
      [102, 1],
      [103, 1],
    ]);
    later.availableAt[2] = 9e15;
    const kept = flowDays.update(flows, later);
    expect([...kept.days]).toEqual([100, 102, 103]);
    expect(kept.availableAt[2]).toBe(9e15);
  });

  it('returns the same result incrementally and at once', () => {
    const stepwise = createEtfFlowFilter();
    for (const atMs of flows.availableAt) stepwise.update(sliceKnownAt(flows, atMs), sliceKnownAt(sp500, atMs));
    expect(stepwise.update(flows, sp500)).toEqual(createEtfFlowFilter().update(flows, sp500));
  });

  it('keeps nothing without S&P 500 observations', () => {
    expect(createEtfFlowFilter().update(flows, buildObservations('sp500', [])).days).toHaveLength(0);
  });
});
