import fc from 'fast-check';
import { type Address, encodeAbiParameters, encodeEventTopics, type Hash, type Hex, type Log, numberToHex, pad } from 'viem';
import { describe, expect, it } from 'vitest';
import { agentCommerceAbi } from '../../../src/chain/erc8183.ts';
import { stablecoinAbi } from '../../../src/chain/stablecoin.ts';
import { buildCauseKey, parseCauseKey } from '../../../src/commerce/ledger.ts';
import { parseMovements } from '../../../src/commerce/reconcile.ts';

const address = (n: number): Address => pad(numberToHex(n), { size: 20 });
const word = (n: number): Hash => pad(numberToHex(n), { size: 32 });
const [COIN, OTHER_COIN, PAYEE, PROVIDER, CONTRACT] = [1, 2, 3, 4, 5].map(address) as [Address, Address, Address, Address, Address];
const TX = word(0xabc);

const log = (emitter: Address, topics: unknown, data: Hex) => ({ address: emitter, topics, data }) as unknown as Log<bigint, number, false>;
const uint = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value]);

function transfer(from: Address, to: Address, value: bigint, coin = COIN) {
  return log(coin, encodeEventTopics({ abi: stablecoinAbi, eventName: 'Transfer', args: { from, to } }), uint(value));
}
function used(authorizer: Address, nonce: Hash) {
  return log(COIN, encodeEventTopics({ abi: stablecoinAbi, eventName: 'AuthorizationUsed', args: { authorizer, nonce } }), '0x');
}
function released(jobId: bigint, amount: bigint, provider = PROVIDER) {
  return log(CONTRACT, encodeEventTopics({ abi: agentCommerceAbi, eventName: 'PaymentReleased', args: { jobId, provider } }), uint(amount));
}

const read = (logs: Log<bigint, number, false>[]) =>
  parseMovements({ logs, transactionHash: TX, blockNumber: 7n }, COIN, { recipients: [PAYEE, PROVIDER], contracts: [CONTRACT] });

describe('parseMovements', () => {
  it('distinguishes transfers, authorizations and jobs', () => {
    const [ann, bob] = [address(0xa), address(0xb)];
    const logs = [
      transfer(ann, PAYEE, 5n),
      ...[used(ann, word(1)), transfer(ann, PAYEE, 7n), used(bob, word(2)), transfer(bob, PAYEE, 11n)],
      ...[transfer(ann, PAYEE, 6n), transfer(bob, PAYEE, 13n), transfer(ann, PROVIDER, 17n)],
      ...[transfer(CONTRACT, PROVIDER, 19n), released(4n, 20n)],
    ];
    const summaries = read(logs).map(({ key, from, to, amountMicros }) => ({ key, from, to, amountMicros }));
    const key = `transfer:${TX}`;
    expect(summaries).toEqual([
      // What arrived, not what the event says.
      { key: `job:${CONTRACT}:4`, from: CONTRACT, to: PROVIDER, amountMicros: 19n },
      { key, from: ann, to: PAYEE, amountMicros: 11n },
      { key: `authorization:${ann}:${word(1)}`, from: ann, to: PAYEE, amountMicros: 7n },
      { key: `authorization:${bob}:${word(2)}`, from: bob, to: PAYEE, amountMicros: 11n },
      { key, from: bob, to: PAYEE, amountMicros: 13n },
      { key, from: ann, to: PROVIDER, amountMicros: 17n },
    ]);
  });

  it('omits other tokens, other recipients and jobs of other providers', () => {
    const ann = address(0xa);
    expect(read([transfer(ann, PAYEE, 5n, OTHER_COIN), transfer(ann, ann, 5n), transfer(ann, PAYEE, 0n)])).toEqual([]);
    const foreign = [transfer(CONTRACT, ann, 5n), released(1n, 5n, ann)];
    expect(read(foreign)).toEqual([]);
    // An authorization that paid somebody else is none of the next transfer.
    const taken = [used(ann, word(1)), transfer(ann, ann, 5n), transfer(ann, PAYEE, 5n)];
    expect(read(taken)).toMatchObject([{ cause: { kind: 'transfer' } }]);
  });

  it('splits several jobs by their events, adding up to the received amount', () => {
    const logs = [transfer(CONTRACT, PROVIDER, 30n), released(1n, 10n), transfer(CONTRACT, PROVIDER, 19n), released(2n, 20n)];
    expect(read(logs)).toMatchObject([
      { cause: { jobId: 1n }, amountMicros: 10n },
      { cause: { jobId: 2n }, amountMicros: 39n },
    ]);
  });

  const event = fc.oneof(
    fc.record({ kind: fc.constant('transfer' as const), from: fc.integer({ min: 8, max: 10 }), value: fc.bigInt({ min: 0n, max: 99n }) }),
    fc.record({ kind: fc.constant('used' as const), from: fc.integer({ min: 8, max: 10 }), value: fc.bigInt({ min: 1n, max: 99n }) }),
    fc.record({ kind: fc.constant('job' as const), from: fc.integer({ min: 1, max: 1_000 }), value: fc.bigInt({ min: 1n, max: 99n }) }),
    fc.record({ kind: fc.constant('foreign' as const), from: fc.integer({ min: 8, max: 10 }), value: fc.bigInt({ min: 1n, max: 99n }) }),
  );
  it('adds up to the received amount for any transaction', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), fc.nat(), (events, start) => {
        const logs = events.flatMap(({ kind, from, value }, index) => {
          if (kind === 'transfer') return [transfer(address(from), PAYEE, value)];
          if (kind === 'used') return [used(address(from), word(start + index + 1)), transfer(address(from), PAYEE, value)];
          if (kind === 'job') return [transfer(CONTRACT, PROVIDER, value), released(BigInt(from), value)];
          return [transfer(address(from), address(0xdead), value)];
        });
        const arrived = events.reduce((sum, { kind, value }) => (kind === 'foreign' ? sum : sum + value), 0n);
        const movements = read(logs);
        expect(movements.reduce((sum, { amountMicros }) => sum + amountMicros, 0n)).toBe(arrived);
        for (const { amountMicros } of movements) expect(amountMicros).toBeGreaterThan(0n);
      }),
    );
  });
});

describe('cause key', () => {
  const hex = (bytes: number) =>
    fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((raw): Hex => `0x${Buffer.from(raw).toString('hex')}`);
  const cause = fc.oneof(
    fc.constant({ kind: 'transfer' as const }),
    fc.record({ kind: fc.constant('authorization' as const), nonce: hex(32) }),
    fc.record({ kind: fc.constant('job' as const), contract: hex(20), jobId: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) }),
  );

  it('is parsed to the same cause', () => {
    fc.assert(
      fc.property(cause, hex(20), hex(32), (of, payer, txHash) => {
        expect(parseCauseKey(buildCauseKey({ cause: of, payer, txHash }))).toEqual(of);
      }),
    );
  });

  it.each(['', 'gift:0x1', 'job:0x1:x', 'job:0x1', 'authorization:0x1'])('is rejected when it is %j', (key) => {
    expect(() => parseCauseKey(key)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });
});
