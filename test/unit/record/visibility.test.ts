import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/auth/caller.ts';
import { viewAttestation } from '../../../src/record/attestations.ts';
import type { ForecastDoc, ForecastState } from '../../../src/record/forecast-doc.ts';
import { viewForecast } from '../../../src/record/visibility.ts';
import { buildTestForecast } from './forecast-fixture.ts';
import { scorecardOf } from './scorecard-fixture.ts';

const now = new Date('2026-01-20T00:00:00Z');
const saltSecret = 'a master secret of a test';
const options = (caller: Caller, policy: 'resolution' | 'immediate' = 'resolution') => ({ caller, policy, now, saltSecret });
const PUBLIC: Caller = { tier: 'public' };

/** All views of a forecast for a caller, as one text. */
function everyView(doc: ForecastDoc, caller: Caller, policy: 'resolution' | 'immediate' = 'resolution'): string {
  const views: unknown[] = [viewForecast(doc, options(caller, policy)), scorecardOf([doc], doc.horizonDays, options(caller, policy))];
  if (doc.attestation !== null) views.push(viewAttestation(doc, 'prediction', options(caller, policy)));
  return JSON.stringify(views);
}

const SECRETS = [/"UP"/, /"DOWN"/, /"BUY"/, /"SELL"/, /"HOLD"/, /0\.5876/, /0\.4123/, /5876/, /4124/, /"salt":"0x/];

describe('the access of a caller', () => {
  const unresolved: ForecastState[] = ['DRAFT', 'PENDING'];

  it.each(unresolved)('hides a %s forecast from the public in every view', (state) => {
    for (const direction of ['UP', 'DOWN'] as const) {
      const text = everyView(buildTestForecast({ state, direction }), PUBLIC);
      for (const secret of SECRETS) expect(text).not.toMatch(secret);
      expect(text).toContain('GATED');
    }
  });

  it('hides a forecast that is decided but not revealed on chain, outcome included', () => {
    const decided: ForecastDoc = { ...buildTestForecast({ state: 'WIN' }), state: 'PENDING', reveal: null };
    const text = everyView(decided, PUBLIC);
    for (const secret of SECRETS) expect(text).not.toMatch(secret);
    expect(text).not.toContain('"returnBps":111');
    expect(text).not.toContain('91000');
  });

  it.each<Caller>([{ tier: 'basic' }, { tier: 'premium' }, { tier: 'public', paid: true }])(
    'shows values and salt at once to %j',
    (caller) => {
      const text = everyView(buildTestForecast({ state: 'PENDING' }), caller);
      expect(text).toContain('"confidence":0.5876,"pUp":0.5876');
      expect(text).toMatch(/"salt":"0x[0-9a-f]{64}"/);
    },
  );

  it('shows everything publicly once revealed, or at once under the policy "immediate"', () => {
    expect(everyView(buildTestForecast({ state: 'WIN' }), PUBLIC)).toContain('"confidence":0.5876,');
    expect(everyView(buildTestForecast({ state: 'PENDING' }), PUBLIC, 'immediate')).toContain('"confidence":0.5876,');
  });

  it('shows a void forecast when its window has ended, not before', () => {
    expect(everyView(buildTestForecast({ state: 'VOID' }), PUBLIC)).toContain('"confidence":0.5876,');
    const early = { ...buildTestForecast({ state: 'VOID' }), resolvesAt: new Date(now.getTime() + 1) };
    expect(everyView(early, PUBLIC)).not.toContain('0.5876');
  });

  it('shows an unattested forecast as pending', () => {
    expect(viewForecast(buildTestForecast({ state: 'DRAFT' }), options(PUBLIC)).status).toBe('PENDING');
  });
});
