import { decodeFunctionResult, encodeFunctionResult, type Hex, numberToHex, toFunctionSelector, zeroHash } from 'viem';
import { findAttestations, readAttestation, readBlock } from '../../../src/audit/chain-record.ts';
import { easAbi, type PredictionData, type RawAttestation, type ResolutionData } from '../../../src/chain/eas/schemas.ts';
import { openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import { toInstantMs } from '../../../src/forecast/day.ts';
import type { CheckId } from '../../../src/verify/findings.ts';
import type { RpcHooks } from '../chain/rpc-proxy.ts';
import type { Item, Tampering, WrittenRecord } from './audit-record.ts';
import { flipByte } from './evidence.ts';
import { VERIFIERS, type Verified, type Verifier } from './verifiers.ts';

/** The forecast that is tampered with. */
export const INDEX = 2;
export const HORIZON = 1;

/** The uids of the forecast under check, and of that of the day before. */
export async function findUids(rpcUrl: string, { attester, firstDay }: WrittenRecord): Promise<Verified['uids']> {
  const reader = await openAuditChain({ rpcUrl });
  const range = { attester, fromBlock: 0, throughBlock: (await readBlock(reader, 'latest')).number };
  const [predictions, resolutions] = await Promise.all(
    (['prediction', 'resolution'] as const).map(async (schema) => {
      const found = await findAttestations(reader, schema, range);
      return Promise.all(found.map(({ uid }) => readAttestation(reader, uid)));
    }),
  );
  const isOf = (index: number) => (raw: RawAttestation) =>
    BigInt(raw.data.slice(0, 2 + 64)) <= 6n &&
    BigInt(`0x${raw.data.slice(66, 130)}`) === BigInt(firstDay + index) &&
    BigInt(`0x${raw.data.slice(130, 194)}`) === BigInt(HORIZON);
  const prediction = predictions.find(isOf(INDEX))!.uid;
  const resolution = resolutions.find(({ refUID }) => refUID === prediction);
  return { previous: predictions.find(isOf(INDEX - 1))!.uid, prediction, resolution: resolution?.uid ?? zeroHash };
}

const NO_BATCHES = { error: { code: -32600, message: 'no' } };

/** An endpoint that lies about one attestation. */
export function lieAbout(uid: Hex, lie: (raw: RawAttestation) => RawAttestation): RpcHooks {
  return {
    onRequest: ({ method }) => (method === undefined ? NO_BATCHES : undefined),
    onResponse: ({ method, params }, result) => {
      const isMeant =
        method === 'eth_call' && JSON.stringify(params).includes(`${toFunctionSelector('getAttestation(bytes32)')}${uid.slice(2)}`);
      if (!isMeant) return undefined;
      const raw = decodeFunctionResult({ abi: easAbi, functionName: 'getAttestation', data: result as Hex });
      return { result: encodeFunctionResult({ abi: easAbi, functionName: 'getAttestation', result: lie(raw) }) };
    },
  };
}

const predictionOf = (change: (item: Item<PredictionData>) => Item<PredictionData>[]): Tampering => ({
  prediction: (item, index) => (index === INDEX && item.horizonDays === HORIZON ? change(item) : [item]),
});
const resolutionOf = (change: (item: Item<ResolutionData>) => Item<ResolutionData>[]): Tampering => ({
  resolution: (item, index, horizonDays) => (index === INDEX && horizonDays === HORIZON ? change(item) : [item]),
});

const later = (at: Date) => new Date(at.getTime() + 3_600_000);
const OTHER_WAY = { UP: 'DOWN', DOWN: 'UP' } as const;
export const ALL_VERIFIERS = Object.keys(VERIFIERS) as Verifier[];

export interface Planted {
  what: string;
  check: CheckId;
  record?: Tampering;
  lie?: { about: 'prediction' | 'resolution'; change(raw: RawAttestation): RawAttestation };
  /** Default: all. */
  by?: readonly Verifier[];
}

/** Field and kind of what is tampered with, and the check that has to fail in every way to verify. */
export const PLANTED: Planted[] = [
  { what: 'salt: replaced', check: 'opening', record: resolutionOf((item) => [{ ...item, salt: `0x${'ab'.repeat(32)}` }]) },
  {
    what: 'direction: the other one',
    check: 'opening',
    record: resolutionOf((item) => [
      { ...item, direction: OTHER_WAY[item.direction], pUpBps: 10_000 - item.pUpBps, signal: item.direction === 'UP' ? 'SELL' : 'BUY' },
    ]),
  },
  { what: 'confidence: lowered', check: 'values', record: resolutionOf((item) => [{ ...item, confidenceBps: item.confidenceBps - 1 }]) },
  {
    what: 'signal: against the direction',
    check: 'values',
    record: resolutionOf((item) => [{ ...item, signal: item.direction === 'UP' ? 'SELL' : 'BUY' }]),
  },
  { what: 'return: one basis point', check: 'return', record: resolutionOf((item) => [{ ...item, returnBps: item.returnBps + 1 }]) },
  {
    what: 'outcome: swapped',
    check: 'outcome',
    record: resolutionOf((item) => [{ ...item, outcome: item.outcome === 'WIN' ? 'LOSS' : 'WIN' }]),
  },
  {
    what: 'window: opens later',
    check: 'windows',
    record: predictionOf((item) => [{ ...item, windowOpensAt: later(item.windowOpensAt) }]),
  },
  { what: 'window: ends later', check: 'windows', record: predictionOf((item) => [{ ...item, resolvesAt: later(item.resolvesAt) }]) },
  {
    what: 'resolution: before its window ends',
    check: 'afterWindow',
    record: predictionOf((item) => [{ ...item, resolvesAt: later(item.resolvesAt) }]),
  },
  { what: 'reference: none', check: 'link', record: predictionOf((item) => [{ ...item, refUid: zeroHash }]) },
  {
    what: 'prediction: late, and counted',
    check: 'void',
    record: { attestAtMs: (index, day) => (index === INDEX ? toInstantMs(day + 1, 0, 10) : undefined) },
  },
  {
    what: 'prediction: twice',
    check: 'onePrediction',
    record: predictionOf((item) => [item, { ...item, commitment: `0x${'77'.repeat(32)}` }]),
  },
  { what: 'resolution: twice', check: 'oneResolution', record: resolutionOf((item) => [item, item]) },
  {
    what: 'close: of another price',
    check: 'price',
    by: ['audit'],
    record: resolutionOf((item) => [{ ...item, btcAtResolutionCents: item.btcAtResolutionCents + 100 }]),
  },
  { what: 'day: left out', check: 'sequence', by: ['audit', 'svc verify all'], record: predictionOf(() => []) },
  ...(['prediction', 'resolution'] as const).flatMap((about): Planted[] => [
    { what: `${about}, data: a byte`, check: 'uid', lie: { about, change: (raw) => flipByte(raw, { field: 'data', index: 40, mask: 1 }) } },
    { what: `${about}, data: cut short`, check: 'uid', lie: { about, change: (raw) => ({ ...raw, data: raw.data.slice(0, -64) as Hex }) } },
    { what: `${about}, data: surplus`, check: 'uid', lie: { about, change: (raw) => ({ ...raw, data: `${raw.data}00` }) } },
    { what: `${about}, time: moved`, check: 'uid', lie: { about, change: (raw) => ({ ...raw, time: raw.time + 1n }) } },
    {
      what: `${about}, attester: foreign`,
      check: 'attester',
      lie: { about, change: (raw) => ({ ...raw, attester: `0x${'b2'.repeat(20)}` }) },
    },
    {
      what: `${about}, schema: foreign`,
      check: 'schema',
      lie: { about, change: (raw) => ({ ...raw, schema: numberToHex(7, { size: 32 }) }) },
    },
    { what: `${about}, revocation: done`, check: 'permanent', lie: { about, change: (raw) => ({ ...raw, revocationTime: raw.time }) } },
    { what: `${about}, revocation: possible`, check: 'permanent', lie: { about, change: (raw) => ({ ...raw, revocable: true }) } },
    { what: `${about}, expiry: soon`, check: 'permanent', lie: { about, change: (raw) => ({ ...raw, expirationTime: raw.time + 9n }) } },
    { what: `${about}, answer: empty`, check: 'found', lie: { about, change: (raw) => ({ ...raw, uid: zeroHash }) } },
  ]),
];
