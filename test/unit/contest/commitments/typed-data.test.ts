import fc from 'fast-check';
import { recoverAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import {
  buildContestDomain,
  COMMITMENT_PRIMARY_TYPE,
  COMMITMENT_TYPES,
  hashContestCommitment,
} from '../../../../src/contest/commitments/typed-data.ts';

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
