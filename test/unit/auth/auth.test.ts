import { beforeEach, describe, expect, it, vi } from 'vitest';
import { WalletTiers } from '../../../src/auth/auth.ts';
import type { Tier } from '../../../src/auth/caller.ts';
import type { ReadGateBalance } from '../../../src/auth/tiers.ts';
import { OracleError } from '../../../src/errors.ts';

const WALLET = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const OTHER = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
let ms = 0;
let held: Tier | null;
let tiers: WalletTiers;

const readGate = vi.fn<ReadGateBalance>(async () => {
  if (held === null) throw new OracleError('CHAIN_UNREACHABLE', 'no answer');
  return { tier: held, balance: '1', blockNumber: 1 };
});

beforeEach(() => {
  readGate.mockClear();
  [ms, held] = [Date.UTC(2026, 2, 1), 'premium'];
  tiers = new WalletTiers({ readGate, now: () => new Date(ms) });
});

describe('WalletTiers', () => {
  it('reads a balance once a minute, for any spelling of the address', async () => {
    expect(await tiers.getTier(WALLET)).toBe('premium');
    held = 'public';
    ms += 60_000;
    expect(await tiers.getTier(WALLET.replace('c5', 'C5'))).toBe('premium');
    expect(readGate).toHaveBeenCalledTimes(1);
    ms += 1;
    expect(await tiers.getTier(WALLET)).toBe('public');
    expect(readGate.mock.calls).toEqual([['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'], ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8']]);
  });

  it('shares one read between concurrent callers', async () => {
    expect(await Promise.all([1, 2, 3].map(() => tiers.getTier(WALLET)))).toEqual(['premium', 'premium', 'premium']);
    expect(readGate).toHaveBeenCalledTimes(1);
    await tiers.getTier(OTHER);
    expect(readGate).toHaveBeenCalledTimes(2);
  });

  it('falls back to the last reading for five minutes when the chain is unreachable', async () => {
    await tiers.getTier(WALLET);
    held = null;
    ms += 5 * 60_000;
    expect(await tiers.getTier(WALLET)).toBe('premium');
    ms += 1;
    await expect(tiers.getTier(WALLET)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    await expect(tiers.getTier(OTHER)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
  });

  it('backs off for five seconds after a failed read', async () => {
    held = null;
    for (const wallet of [WALLET, OTHER, WALLET]) await expect(tiers.getTier(wallet)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    expect(readGate).toHaveBeenCalledTimes(1);
    held = 'basic';
    ms += 5_000;
    expect(await tiers.getTier(WALLET)).toBe('basic');
  });
});
