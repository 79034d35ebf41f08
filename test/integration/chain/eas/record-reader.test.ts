import { readFileSync } from 'node:fs';
import {
  type Abi,
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  zeroAddress,
  zeroHash,
} from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../../../../src/chain/client.ts';
import {
  type CommitmentOpening,
  computeCommitment,
  DIRECTION_CODES,
  EAS_SCHEMAS,
  encodePrediction,
  encodeResolution,
  getSchemaUid,
  type PredictionData,
  type ResolutionData,
  type SchemaName,
  SIGNAL_CODES,
  schemaRegistryAbi,
} from '../../../../src/chain/eas/schemas.ts';
import { type LocalTransaction, sendTransactionsForHashes } from '../../../../src/dev/local-chain/contracts.ts';
import { DAY_MS, toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { type TestChain, type TestRole, testChain } from '../../../support/chain/chain.ts';
import { documentText } from '../../../support/docs/documents.ts';

const HORIZON_DAYS = 2;
const ATTEST_ABI = parseAbi([
  'struct Data { address recipient; uint64 expirationTime; bool revocable; bytes32 refUID; bytes data; uint256 value; }',
  'struct Request { bytes32 schema; Data data; }',
  'function attest(Request request) payable returns (bytes32)',
]);
const artifact = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../../contracts/compiled/${name}.json`, import.meta.url), 'utf8')) as { abi: Abi; bytecode: Hex };
const READER = artifact('OracleRecordReader');
const SCORE = artifact('examples/SignalScore');

let chain: TestChain;
let connection: Chain;
let reader: Address;
let day: number;
let revert: () => Promise<void>;

const send = async (role: TestRole, ...calls: LocalTransaction[]) => sendTransactionsForHashes(chain.rpcUrl, chain.accounts[role], calls);

async function deploy(role: TestRole, { abi, bytecode }: { abi: Abi; bytecode: Hex }, ...args: unknown[]): Promise<Address> {
  const from = chain.accounts[role].address;
  const nonce = BigInt(await chain.rpc<Hex>('eth_getTransactionCount', from, 'latest'));
  await send(role, { data: encodeDeployData({ abi, bytecode, args }) });
  return getContractAddress({ from, nonce });
}

beforeAll(async () => {
  chain = await testChain();
  connection = await chain.connect();
  const { eas, schemaRegistry } = chain.addresses;
  const schemas = Object.values(EAS_SCHEMAS);
  await send(
    'attester',
    ...schemas.map((text) => ({
      to: schemaRegistry,
      data: encodeFunctionData({ abi: schemaRegistryAbi, functionName: 'register', args: [text, zeroAddress, false] }),
    })),
  );
  reader = await deploy('provider', READER, eas, chain.accounts.attester.address, HORIZON_DAYS);
  const newest = await connection.client.getBlock();
  day = toDay(Number(newest.timestamp) * 1_000);
});
beforeEach(async () => {
  revert = await chain.snapshot();
  return () => revert();
});
afterAll(() => chain.stop());

const OPENING: CommitmentOpening = {
  salt: keccak256('0x01'),
  signal: 'SELL',
  direction: 'DOWN',
  confidenceBps: 6_100,
  pUpBps: 3_900,
  btcPriceCents: 11_234_567,
};

const prediction = (change: Partial<PredictionData> = {}): PredictionData => ({
  sequence: 1,
  day,
  horizonDays: HORIZON_DAYS,
  windowOpensAt: new Date(toInstantMs(day + 1)),
  resolvesAt: new Date(toInstantMs(day + 1 + HORIZON_DAYS)),
  commitment: computeCommitment(OPENING),
  inputsDigest: keccak256('0x02'),
  metadata: keccak256('0x03'),
  ...change,
});

const resolution = (change: Partial<ResolutionData> = {}): ResolutionData => ({
  ...OPENING,
  btcAtSignalCents: 11_200_000,
  btcAtResolutionCents: 11_100_000,
  returnBps: -89,
  outcome: 'WIN',
  ...change,
});

interface AttestOptions {
  schema?: SchemaName;
  refUID?: Hex;
  role?: TestRole;
}

async function attest(data: Hex, { schema = 'prediction', refUID = zeroHash, role = 'attester' }: AttestOptions = {}): Promise<Hex> {
  const item = { recipient: zeroAddress, expirationTime: 0n, revocable: false, refUID, data, value: 0n };
  const request = { schema: getSchemaUid(schema), data: item };
  const call = encodeFunctionData({ abi: ATTEST_ABI, functionName: 'attest', args: [request] });
  const [hash] = await send(role, { to: chain.addresses.eas, data: call });
  const { logs } = await chain.rpc<{ logs: { data: Hex }[] }>('eth_getTransactionReceipt', hash);
  return logs[0].data;
}

const attestPrediction = (change: Partial<PredictionData> = {}, options: AttestOptions = {}) =>
  attest(encodePrediction(prediction(change)), options);
const attestResolution = (refUID: Hex, change: Partial<ResolutionData> = {}) =>
  attest(encodeResolution(resolution(change)), { schema: 'resolution', refUID });

const setTime = (at: Date) => chain.rpc('evm_setNextBlockTimestamp', Math.floor(at.getTime() / 1_000));
const read = (functionName: string, ...args: unknown[]) =>
  connection.client.readContract({ address: reader, abi: READER.abi, functionName, args });
/** Name of the contract's error. */
const failure = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'no error',
    (error: { walk(match: (one: unknown) => boolean): { data?: { errorName?: string } } | null }) =>
      error.walk((one) => (one as Error).name === 'ContractFunctionRevertedError')?.data?.errorName ?? 'reverted without a reason',
  );
const toCodes = ({ signal, direction, ...opening }: CommitmentOpening) => ({
  ...opening,
  signal: SIGNAL_CODES[signal],
  direction: DIRECTION_CODES[direction],
  btcPriceCents: BigInt(opening.btcPriceCents),
});

describe('OracleRecordReader', () => {
  it('computes the schema uids of the registry', async () => {
    expect(await read('PREDICTION_SCHEMA')).toBe(getSchemaUid('prediction'));
    expect(await read('RESOLUTION_SCHEMA')).toBe(getSchemaUid('resolution'));
  });

  it('returns a prediction attested before its window, its opening and its resolution', async () => {
    const uid = await attestPrediction();
    expect(await read('readPrediction', uid)).toMatchObject({ sequence: 1n, day, horizonDays: HORIZON_DAYS });
    expect(await read('readOpened', uid, toCodes(OPENING))).toMatchObject({ commitment: prediction().commitment });
    await setTime(prediction().resolvesAt);
    const [predictionUid, , opening, outcome] = (await read('readResolution', await attestResolution(uid))) as unknown[];
    expect(predictionUid).toBe(uid);
    expect(opening).toEqual(toCodes(OPENING));
    expect(outcome).toEqual({ btcAtSignalCents: 11_200_000n, btcAtResolutionCents: 11_100_000n, returnBps: -89, outcome: 1 });
  });

  it.each<[string, string, () => Promise<Hex>]>([
    ['an unknown uid', 'AttestationNotFound', async () => keccak256('0x99')],
    ['the zero uid', 'AttestationNotFound', async () => zeroHash],
    ['another attester', 'WrongAttester', () => attestPrediction({}, { role: 'stranger' })],
    ['another schema', 'WrongSchema', () => attest(encodeResolution(resolution()), { schema: 'resolution' })],
    ['another horizon', 'WrongHorizon', () => attestPrediction({ horizonDays: 7 })],
    ['a window of another day', 'WrongWindow', () => attestPrediction({ windowOpensAt: new Date(toInstantMs(day + 2)) })],
    ['a window of another length', 'WrongWindow', () => attestPrediction({ resolvesAt: new Date(toInstantMs(day + 9)) })],
    ['a missed day', 'NothingForecast', () => attestPrediction({ commitment: zeroHash })],
    ['truncated data', 'reverted without a reason', () => attest(encodePrediction(prediction()).slice(0, -2) as Hex)],
    [
      'a block at the opening of the window',
      'NotBeforeWindow',
      async () => {
        await setTime(prediction().windowOpensAt);
        return attestPrediction();
      },
    ],
  ])('rejects %s', async (_, error, make) => {
    expect(await failure(read('readPrediction', await make()))).toBe(error);
  });

  it('rejects a revoked attestation', async () => {
    const uid = await attestPrediction();
    await revoke(uid);
    expect(await failure(read('readPrediction', uid))).toBe('AttestationRevoked');
  });

  it.each<[string, string, Partial<CommitmentOpening>]>([
    ['another salt', 'CommitmentMismatch', { salt: zeroHash }],
    ['another signal', 'CommitmentMismatch', { signal: 'HOLD' }],
    ['another price', 'CommitmentMismatch', { btcPriceCents: 1 }],
  ])('rejects an opening with %s', async (_, error, change) => {
    const uid = await attestPrediction();
    expect(await failure(read('readOpened', uid, toCodes({ ...OPENING, ...change })))).toBe(error);
  });

  it.each<[string, Partial<CommitmentOpening>]>([
    ['a signal against the direction', { signal: 'BUY' }],
    ['a direction against P(up)', { direction: 'UP', signal: 'BUY' }],
    ['a confidence other than that of P(up)', { confidenceBps: 9_000 }],
    ['a confidence above the cap', { pUpBps: 50, confidenceBps: 9_950 }],
  ])('rejects committed values that contradict each other: %s', async (_, change) => {
    const opening = { ...OPENING, ...change };
    const uid = await attestPrediction({ commitment: computeCommitment(opening) });
    expect(await failure(read('readOpened', uid, toCodes(opening)))).toBe('InvalidOpening');
  });

  it.each<[string, string, Partial<ResolutionData>]>([
    ['values that were not committed', 'CommitmentMismatch', { pUpBps: 3_800, confidenceBps: 6_200 }],
    ['an outcome that contradicts the closes', 'InvalidOutcome', { outcome: 'LOSS' }],
    ['HOLD for a signal', 'InvalidOutcome', { outcome: 'HOLD' }],
    ['no close at the signal', 'InvalidOutcome', { btcAtSignalCents: 0 }],
  ])('rejects a resolution with %s', async (_, error, change) => {
    const uid = await attestPrediction();
    await setTime(prediction().resolvesAt);
    expect(await failure(read('readResolution', await attestResolution(uid, change)))).toBe(error);
  });

  it('rejects a resolution before the end of the window, and one of a foreign prediction', async () => {
    const [own, foreign] = [await attestPrediction(), await attestPrediction({}, { role: 'stranger' })];
    await setTime(new Date(prediction().resolvesAt.getTime() - 1_000));
    expect(await failure(read('readResolution', await attestResolution(own)))).toBe('ResolvedEarly');
    await setTime(prediction().resolvesAt);
    expect(await failure(read('readResolution', await attestResolution(foreign)))).toBe('WrongAttester');
  });

  it('requires link and sequence number of a successor', async () => {
    const first = await attestPrediction();
    const [linked, unlinked, gap] = [
      await attestPrediction({ sequence: 2 }, { refUID: first }),
      await attestPrediction({ sequence: 2 }),
      await attestPrediction({ sequence: 3 }, { refUID: first }),
    ];
    expect(await read('requireSuccessor', linked, first)).toMatchObject({ sequence: 2n });
    expect(await failure(read('requireSuccessor', unlinked, first))).toBe('NotSuccessor');
    expect(await failure(read('requireSuccessor', gap, first))).toBe('NotSuccessor');
  });

  it('costs the documented gas', async () => {
    const first = await attestPrediction();
    const uid = await attestPrediction({ sequence: 2 }, { refUID: first });
    await setTime(prediction().resolvesAt);
    const resolved = await attestResolution(uid);
    const gas = async (functionName: string, ...args: unknown[]) => {
      const data = encodeFunctionData({ abi: READER.abi, functionName, args });
      return Number(await chain.rpc<Hex>('eth_estimateGas', { from: chain.accounts.stranger.address, to: reader, data }));
    };
    const measured = {
      readPrediction: await gas('readPrediction', uid),
      requireSuccessor: await gas('requireSuccessor', uid, first),
      readOpened: await gas('readOpened', uid, toCodes(OPENING)),
      readResolution: await gas('readResolution', resolved),
    };
    const text = await documentText('docs/VERIFY.md');
    for (const [name, used] of Object.entries(measured)) {
      const [, documented] = new RegExp(`\`${name}[^|]*\\|[^|]*\\| ([\\d,]+) gas`).exec(text) ?? [];
      expect(Math.abs(Number(documented?.replaceAll(',', '')) / used - 1), `${name}: ${used} gas, documented ${documented}`).toBeLessThan(
        0.02,
      );
    }
  });
});

describe('SignalScore, the example consumer', () => {
  it('counts each accepted forecast once, and accepts none whose window is open', async () => {
    const first = await attestPrediction();
    const score = await deploy('stranger', SCORE, reader, first);
    const call = (functionName: string, uid: Hex) =>
      send('stranger', { to: score, data: encodeFunctionData({ abi: SCORE.abi, functionName, args: [uid] }) });
    const tally = async () =>
      Promise.all(
        ['wins', 'losses'].map((functionName) => connection.client.readContract({ address: score, abi: SCORE.abi, functionName })),
      );
    const uid = await attestPrediction({ sequence: 2 }, { refUID: first });
    const rival = await attestPrediction({ sequence: 2, metadata: zeroHash }, { refUID: first });
    const late = await attestPrediction({ sequence: 3 }, { refUID: uid });
    await call('accept', uid);
    // A second prediction of the same day comes too late.
    await expect(call('accept', rival)).rejects.toThrow('failed');
    await setTime(prediction().windowOpensAt);
    await expect(call('accept', late)).rejects.toThrow('failed');
    await setTime(new Date(prediction().resolvesAt.getTime() + DAY_MS));
    const [resolved, ofRival] = [await attestResolution(uid), await attestResolution(rival)];
    await call('score', resolved);
    await expect(call('score', resolved)).rejects.toThrow('failed');
    await expect(call('score', ofRival)).rejects.toThrow('failed');
    expect(await tally()).toEqual([1, 0]);
  });
});

/** EAS revokes no attestation of a non-revocable schema: sets the time of revocation in the storage of the contract. */
async function revoke(uid: Hex): Promise<void> {
  const { eas } = chain.addresses;
  const slotOf = (base: number) => keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [uid, BigInt(base)]));
  const at = (slot: Hex, offset: bigint) => numberToHex(BigInt(slot) + offset, { size: 32 });
  for (let base = 0; base < 500; base += 1) {
    if ((await chain.rpc<Hex>('eth_getStorageAt', eas, slotOf(base), 'latest')) !== uid) continue;
    // The third word holds three times of 64 bits: revocation, expiration and creation, from the left.
    const times = await chain.rpc<Hex>('eth_getStorageAt', eas, at(slotOf(base), 2n), 'latest');
    await chain.rpc(
      'anvil_setStorageAt',
      eas,
      at(slotOf(base), 2n),
      concatHex([`0x${'0'.repeat(16)}`, '0x0000000000000001', `0x${times.slice(34)}`]),
    );
    return;
  }
  throw new Error('EAS keeps its attestations elsewhere');
}
