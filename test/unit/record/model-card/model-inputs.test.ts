import { describe, expect, it } from 'vitest';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, type InputFrame } from '../../../../src/forecast/inputs.ts';
import { HORIZONS, MODEL_INPUTS } from '../../../../src/forecast/model.ts';
import { REGIME_NAMES, REGIME_RULES, REGIME_THRESHOLDS } from '../../../../src/forecast/regime.ts';
import { getLicences } from '../../../../src/market/feed.ts';
import { PROVIDER_IDS, PROVIDERS } from '../../../../src/market/live/provider.ts';
import { getProviderIds } from '../../../../src/market/sources/registry.ts';
import { countIndependentCallsPerYear, MODEL_INPUT_SERIES } from '../../../../src/record/model-card.ts';

const DAYS = 600;
const wave = (index: number, step: number) => Math.sin(index * step) + Math.sin(index * index * 0.01);
const column = (base: number, size: number, step: number) => Float64Array.from({ length: DAYS }, (_, i) => base + size * wave(i, step));
const business = (base: number, size: number, step: number) => ({
  days: Int32Array.from({ length: DAYS }, (_, i) => i),
  values: column(base, size, step),
});

const FRAME: InputFrame = {
  firstDay: 0,
  close: column(1_000, 100, 0.05),
  fearGreed: column(50, 20, 0.03),
  realizedPrice: column(800, 30, 0.02),
  takerBuyFraction: column(0.5, 0.02, 0.4),
  fundingRate: column(0.0001, 0.00004, 0.3),
  gold: column(2_000, 50, 0.07),
  pmi: column(50, 3, 0.2),
  high: column(1_100, 100, 0.05),
  low: column(950, 100, 0.05),
  etfFlow: business(50, 200, 0.6),
  sp500: business(4_000, 90, 0.04),
  dxy: business(100, 2, 0.06),
};

/** The frame with one input doubled where it is daily, and with other flows and prices where it is not. */
function changed(name: keyof InputFrame): InputFrame {
  if ((DAILY_COLUMNS as readonly string[]).includes(name)) {
    return { ...FRAME, [name]: (FRAME[name] as Float64Array).map((value, index) => value * (1 + index / DAYS)) };
  }
  const { days, values } = FRAME[name as (typeof BUSINESS_DAY_COLUMNS)[number]];
  return { ...FRAME, [name]: { days, values: values.map((value, index) => value * (1 + index / DAYS)) } };
}

const SERIES_OF = { close: 'btcClose', high: 'btcHigh', low: 'btcLow' } as Record<string, string>;

describe('the inputs of the model card', () => {
  it.each([...DAILY_COLUMNS, ...BUSINESS_DAY_COLUMNS])('name exactly the scores that %s enters', (name) => {
    const before = computeFeatures(FRAME);
    const after = computeFeatures(changed(name));
    const moved = MODEL_INPUTS.filter((score) => before[score].some((value, row) => value !== after[score][row]));
    const input = MODEL_INPUT_SERIES.find(({ series }) => series === (SERIES_OF[name] ?? name))!;
    expect(input.enters).toEqual(moved);
  });

  it('include the attribution that providers require', () => {
    for (const id of PROVIDER_IDS) expect(PROVIDERS[id].licence.length, id).toBeGreaterThan(5);
    for (const { series } of MODEL_INPUT_SERIES) {
      const providers = getProviderIds(series).map((provider) => ({ provider }));
      const licences = getLicences({ kind: 'live', source: 'live' }, providers);
      expect(licences.map(({ of }) => of)).toEqual(providers.map(({ provider }) => PROVIDERS[provider].title));
      expect(licences.length).toBeGreaterThan(0);
    }
    expect(getLicences({ kind: 'simulated', source: 'simulated (seed 2)' }, [])).toEqual([
      { of: 'simulated (seed 2)', licence: expect.stringContaining('simulated') },
    ]);
    expect(getLicences({ kind: 'csv', source: 'csv:history' }, [])[0].licence).toContain('unknown');
  });
});

describe('the statements of the model card', () => {
  it('have a rule for each regime, and each limit in one of them', () => {
    const rules = REGIME_NAMES.map((regime) => REGIME_RULES[regime]);
    expect(rules.every((rule) => rule.length > 0)).toBe(true);
    for (const [name, limit] of Object.entries(REGIME_THRESHOLDS)) expect(rules.join(' '), name).toContain(`${limit}`);
  });

  it('count overlapping calls below their number', () => {
    const worth = HORIZONS.map(countIndependentCallsPerYear);
    expect(worth[0]).toBe(365);
    expect(worth.toSorted((a, b) => b - a)).toEqual(worth);
    expect(worth.at(-1)).toBeGreaterThan(365 / 7);
    expect(worth.at(-1)).toBeLessThan(80);
  });
});
