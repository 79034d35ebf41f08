import fc from 'fast-check';
import { type Address, encodeAbiParameters, encodeEventTopics, type Hex, numberToHex, toEventSelector, toHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { stablecoinAbi } from '../../../src/chain/stablecoin.ts';
import { type RawLog, summarizeTransfers } from '../../../src/commerce/purchases.ts';

const address = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
const [ASSET, PAYER, PAYEE, OTHER] = [address(0xa1), address(0xb2), address(0xc3), address(0xd4)];
const paidBy = { asset: ASSET, payer: PAYER, payee: PAYEE };
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

interface Moved {
  coin: Address;
  from: Address;
  to: Address;
  value: bigint;
}

function transfer({ coin, from, to, value }: Moved): RawLog {
  const topics = encodeEventTopics({ abi: stablecoinAbi, eventName: 'Transfer', args: { from, to } }) as Hex[];
  return { address: coin, topics, data: encodeAbiParameters([{ type: 'uint256' }], [value]) };
}

const party = fc.constantFrom(PAYER, PAYEE, OTHER);
const moved: fc.Arbitrary<Moved> = fc.record({
  coin: fc.constantFrom(ASSET, ASSET, OTHER),
  from: party,
  to: party,
  value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
});
const hexOf = (bytes: Uint8Array): Hex => toHex(bytes);
const junk: fc.Arbitrary<RawLog> = fc.record({
  address: fc.constantFrom(ASSET, OTHER),
  topics: fc.array(fc.oneof(fc.constant(TRANSFER), fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hexOf)), { maxLength: 2 }),
  data: fc.uint8Array({ maxLength: 100 }).map(hexOf),
});

describe('summarizeTransfers', () => {
  it('sums the transfers of the token from payer to payee, ignoring all other logs', () => {
    fc.assert(
      fc.property(fc.array(moved, { maxLength: 12 }), fc.array(junk, { maxLength: 6 }), (transfers, rubbish) => {
        const ours = transfers.filter(({ coin }) => coin === ASSET);
        const sum = ours.filter(({ from, to }) => from === PAYER && to === PAYEE).reduce((total, { value }) => total + value, 0n);
        const logs = [...rubbish.slice(0, 3), ...transfers.map(transfer), ...rubbish.slice(3)];
        expect(summarizeTransfers(logs, paidBy)).toEqual({
          paidMicros: sum,
          transfers: ours.length,
          reachesPayee: ours.some(({ to }) => to === PAYEE),
          isAuthorized: false,
        });
      }),
    );
  });

  it('compares addresses case-insensitively', () => {
    const log = transfer({ coin: ASSET, from: PAYER, to: PAYEE, value: 7n });
    const shouted = {
      asset: ASSET.toUpperCase().replace('0X', '0x'),
      payer: PAYER.toUpperCase(),
      payee: PAYEE.toUpperCase(),
    } as typeof paidBy;
    expect(summarizeTransfers([{ ...log, address: ASSET.toUpperCase() as Hex }], shouted).paidMicros).toBe(7n);
  });

  it('ignores malformed transfers: a token with an id, or one without an amount', () => {
    const log = transfer({ coin: ASSET, from: PAYER, to: PAYEE, value: 7n });
    const withId = { ...log, topics: [...log.topics, numberToHex(7, { size: 32 })], data: '0x' as Hex };
    const withoutSum = { ...log, data: '0x' as Hex };
    const short = { ...log, data: '0x07' as Hex };
    expect(summarizeTransfers([withId, withoutSum, short], paidBy)).toMatchObject({ paidMicros: 0n, transfers: 0, reachesPayee: false });
  });

  it('detects an authorized payment of the token only', () => {
    const topics = encodeEventTopics({
      abi: stablecoinAbi,
      eventName: 'AuthorizationUsed',
      args: { authorizer: PAYER, nonce: numberToHex(1, { size: 32 }) },
    }) as Hex[];
    const used = (coin: Address): RawLog => ({ address: coin, topics, data: '0x' });
    expect(summarizeTransfers([used(ASSET)], paidBy).isAuthorized).toBe(true);
    expect(summarizeTransfers([used(OTHER)], paidBy).isAuthorized).toBe(false);
  });
});
