import { expect, it } from 'vitest';
import { formatProviders, parseFeedsCommand } from '../../../src/cli/feeds.ts';
import type { ProviderHealth } from '../../../src/market/live/provider.ts';

it('takes --json', () => {
  expect(parseFeedsCommand([])).toEqual({ json: false });
  expect(parseFeedsCommand(['--json'])).toEqual({ json: true });
});

it('lists what was left out of the answers of each provider, and why', () => {
  const health: ProviderHealth = {
    ...{ provider: 'kalshi', title: 'Kalshi', circuit: 'closed', calls: 12, failures: 1, clockSkewMs: 0 },
    ...{ lastOkAtMs: 2_000, lastFailureAtMs: 1_000, lastError: null },
    ...{ rowsLeftOut: 3, lastLeftOutAtMs: 2_000, lastLeftOut: 'Kalshi: floor_strike is null' },
  };
  const failing = {
    ...health,
    circuit: 'open',
    lastError: 'Kalshi: /x answered 500',
    rowsLeftOut: 0,
    lastLeftOutAtMs: null,
    lastLeftOut: null,
  } as const;
  expect(formatProviders([health, failing])).toBe(`Kalshi: 12 calls, 1 failed, 3 rows left out
  last row left out 1970-01-01T00:00:02.000Z: Kalshi: floor_strike is null
Kalshi: 12 calls, 1 failed, 0 rows left out, circuit open
  failing: Kalshi: /x answered 500
`);
  expect(formatProviders([])).toBe('no provider was asked\n');
});

it.each([[['prices']], [['--jason']]])('rejects %j', (args) => {
  expect(() => parseFeedsCommand(args)).toThrow();
});
