import fc from 'fast-check';
import { recoverAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import {
  buildContestDomain,
  buildMarketId,
  buildRoundStrikes,
  COMMITMENT_PRIMARY_TYPE,
  COMMITMENT_TYPES,
  getDecidingDay,
  getNextRoundWeek,
  hashContestCommitment,
  MARKET_ID_PATTERN,
  MAX_POINTS,
  MAX_PROBABILITY_BPS,
  MIN_PROBABILITY_BPS,
  POINTS_PER_BRIER,
  parseRoundId,
  STRIKES_EACH_SIDE,
  scoreCommitment,
  toContestBps,
} from '../../src/contest.ts';
import { DAY_MS, formatDay } from '../../src/forecast/day.ts';
import { between } from '../support/record/arbitraries.ts';

const instants = fc.integer({ min: 0, max: Date.UTC(2150, 0, 1) });

describe('getNextRoundWeek', () => {
  it('starts on the next Monday at 00:00 UTC and lasts seven days', () => {
    fc.assert(
      fc.property(instants, (nowMs) => {
        const { opensAt, resolvesAt } = getNextRoundWeek(nowMs);
        expect(opensAt.getUTCDay()).toBe(1);
        expect(opensAt.getTime() % DAY_MS).toBe(0);
        expect(opensAt.getTime()).toBeGreaterThan(nowMs);
        expect(opensAt.getTime() - nowMs).toBeLessThanOrEqual(7 * DAY_MS);
        expect(resolvesAt.getTime() - opensAt.getTime()).toBe(7 * DAY_MS);
        expect(new Date(getDecidingDay({ resolvesAt }) * DAY_MS).getUTCDay()).toBe(0);
      }),
    );
  });

  it('uses unique ISO 8601 week ids', () => {
    fc.assert(
      fc.property(instants, (nowMs) => {
        const { id, opensAt } = getNextRoundWeek(nowMs);
        const [year, week] = id.split('-W').map(Number);
        const fourth = Date.UTC(year, 0, 4);
        const firstMonday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS;
        expect(opensAt.getTime()).toBe(firstMonday + (week - 1) * 7 * DAY_MS);
        expect(id).toMatch(/^\d{4}-W(0[1-9]|[1-4]\d|5[0-3])$/);
      }),
    );
  });

  it.each([
    ['2026-08-02T23:59:59.999Z', '2026-W32', '2026-08-03', '2026-08-09'],
    ['2026-08-03T00:00:00.000Z', '2026-W33', '2026-08-10', '2026-08-16'],
    ['2020-12-27T12:00:00.000Z', '2020-W53', '2020-12-28', '2021-01-03'],
    ['2021-01-03T12:00:00.000Z', '2021-W01', '2021-01-04', '2021-01-10'],
    ['2024-12-28T00:00:00.000Z', '2025-W01', '2024-12-30', '2025-01-05'],
  ])('at %s is %s', (now, id, opens, decides) => {
    const week = getNextRoundWeek(Date.parse(now));
    expect(week.id).toBe(id);
    expect(week.opensAt.toISOString().slice(0, 10)).toBe(opens);
    expect(formatDay(getDecidingDay(week))).toBe(decides);
  });
});

it('returns positive, ascending, evenly spaced strikes around the price with valid market ids', () => {
  fc.assert(
    fc.property(between(1, 1e7), (spot) => {
      const strikes = buildRoundStrikes(spot);
      expect(strikes).toHaveLength(2 * STRIKES_EACH_SIDE + 1);
      const step = strikes[1] - strikes[0];
      expect(strikes[0]).toBeGreaterThan(0);
      for (let i = 1; i < strikes.length; i++) expect((strikes[i] - strikes[i - 1]) / step).toBeCloseTo(1, 3);
      expect(step / spot).toBeGreaterThan(0.0228);
      expect(step / spot).toBeLessThan(0.0572);
      expect(Math.abs(strikes[STRIKES_EACH_SIDE] - spot)).toBeLessThanOrEqual(step * 0.501);
      for (const strike of strikes) {
        expect(buildMarketId('2026-W32', strike)).toMatch(MARKET_ID_PATTERN);
        expect(parseRoundId(buildMarketId('2026-W32', strike))).toBe('2026-W32');
      }
    }),
  );
});

it('returns round strikes', () => {
  expect(buildRoundStrikes(61_234)).toEqual([58_000, 60_000, 62_000, 64_000, 66_000]);
  expect(buildRoundStrikes(104_900)).toEqual([95_000, 100_000, 105_000, 110_000, 115_000]);
});

it('parses no round from an invalid market id', () => {
  for (const text of [
    '',
    '2026-W32',
    '2026-W32-',
    '2026-W3-1',
    '2026-W32-6e4',
    '2026-W32--1',
    ' 2026-W32-1',
    `2026-W32-${'1'.repeat(10)}`,
  ]) {
    expect(parseRoundId(text), text).toBeNull();
  }
});

const bps = fc.integer({ min: MIN_PROBABILITY_BPS, max: MAX_PROBABILITY_BPS });

describe('points', () => {
  it('are the rounded difference of squared errors', () => {
    fc.assert(
      fc.property(bps, bps, fc.boolean(), (walletBps, oracleBps, above) => {
        const { points, brierOracle, brierWallet } = scoreCommitment({ walletBps, oracleBps, above });
        expect(Number.isInteger(points)).toBe(true);
        expect(Object.is(points, -0)).toBe(false);
        expect(Math.abs(points - POINTS_PER_BRIER * (brierOracle - brierWallet))).toBeLessThanOrEqual(0.5 + 1e-6);
        expect(Math.abs(points)).toBeLessThanOrEqual(MAX_POINTS);
      }),
    );
  });

  it('are antisymmetric, and 0 for equal probabilities', () => {
    fc.assert(
      fc.property(bps, bps, fc.boolean(), (a, b, above) => {
        const won = scoreCommitment({ walletBps: a, oracleBps: b, above }).points;
        const lost = scoreCommitment({ walletBps: b, oracleBps: a, above }).points;
        // Halves round up on both sides.
        expect(Math.abs(won + lost)).toBeLessThanOrEqual(1);
        expect(scoreCommitment({ walletBps: a, oracleBps: a, above }).points).toBe(0);
      }),
    );
  });

  it('are maximal in expectation for the true probability', () => {
    fc.assert(
      fc.property(bps, bps, bps, (trueBps, otherBps, oracleBps) => {
        const expected = (walletBps: number) => {
          const of = (above: boolean) => scoreCommitment({ walletBps, oracleBps, above });
          const p = trueBps / 10_000;
          const gain = ({ brierOracle, brierWallet }: ReturnType<typeof of>) => brierOracle - brierWallet;
          return { brier: p * gain(of(true)) + (1 - p) * gain(of(false)), points: p * of(true).points + (1 - p) * of(false).points };
        };
        const honest = expected(trueBps);
        const other = expected(otherBps);
        // The expected loss of another answer is the square of its distance.
        expect(honest.brier - other.brier).toBeCloseTo(((trueBps - otherBps) / 10_000) ** 2, 9);
        expect(honest.points).toBeGreaterThanOrEqual(other.points - 1);
      }),
    );
  });

  it('match the worked example of the document', () => {
    expect(scoreCommitment({ walletBps: 7_000, oracleBps: 5_500, above: true })).toMatchObject({ points: 1_125 });
    expect(scoreCommitment({ walletBps: 7_000, oracleBps: 5_500, above: false })).toMatchObject({ points: -1_875 });
    expect(MAX_POINTS).toBe(9_800);
  });
});

it("clips a probability to the contest's range in whole basis points", () => {
  fc.assert(
    fc.property(between(0, 1), (probability) => {
      const value = toContestBps(probability);
      expect(Number.isInteger(value)).toBe(true);
      expect(value).toBeGreaterThanOrEqual(MIN_PROBABILITY_BPS);
      expect(value).toBeLessThanOrEqual(MAX_PROBABILITY_BPS);
      if (probability > 0.01 && probability < 0.99) expect(Math.abs(value - probability * 10_000)).toBeLessThanOrEqual(0.5);
    }),
  );
});

const REGISTRY = '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432';
const deployment = { chainId: 8453, identityRegistry: REGISTRY, agentId: 7 } as const;
const account = privateKeyToAccount(generatePrivateKey());
const commitment = { market: '2026-W32-62000', wallet: account.address, probabilityBps: 6_200, issuedAtMs: 1_785_000_000_000 };

describe('contest typed data', () => {
  it('verifies against the signature of an EOA', async () => {
    const domain = buildContestDomain(deployment);
    const message = { ...commitment, issuedAtMs: BigInt(commitment.issuedAtMs) };
    const signature = await account.signTypedData({ domain, types: COMMITMENT_TYPES, primaryType: COMMITMENT_PRIMARY_TYPE, message });
    expect(await recoverAddress({ hash: hashContestCommitment(domain, commitment), signature })).toBe(account.address);
  });

  it('changes its hash with chain, registry and agent', () => {
    const others = [
      { ...deployment, chainId: 1 },
      { ...deployment, identityRegistry: account.address },
      { ...deployment, agentId: 8 },
      { ...deployment, agentId: 0 },
    ];
    const hashes = [deployment, ...others].map((one) => hashContestCommitment(buildContestDomain(one), commitment));
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('changes its hash with every field', () => {
    const domain = buildContestDomain(deployment);
    const changes = fc.oneof(
      fc.record({ probabilityBps: fc.integer({ min: 0, max: 65_535 }) }),
      fc.record({ issuedAtMs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }) }),
      fc.record({ market: fc.string({ maxLength: 40 }) }),
      fc.record({ wallet: fc.constant(REGISTRY) }),
    );
    fc.assert(
      fc.property(changes, (change) => {
        const changed = { ...commitment, ...change };
        const same = Object.entries(change).every(([name, value]) => commitment[name as keyof typeof commitment] === value);
        expect(hashContestCommitment(domain, changed) === hashContestCommitment(domain, commitment)).toBe(same);
      }),
    );
  });
});
