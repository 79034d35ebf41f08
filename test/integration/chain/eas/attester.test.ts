import { encodeFunctionData, encodePacked, type Hex, keccak256, stringToHex, zeroAddress, zeroHash } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Attester, createAttester, deriveSalt } from '../../../../src/chain/eas/eas.ts';
import {
  type AttestationReader,
  computeCommitment,
  createAttestationReader,
  decodePrediction,
  decodeResolution,
  EAS_SCHEMAS,
  easAbi,
  getSchemaUid,
  type PredictionData,
  type ResolutionData,
  schemaRegistryAbi,
} from '../../../../src/chain/eas/schemas.ts';
import type { Wallet } from '../../../../src/chain/wallet.ts';
import { toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { REACHED } from '../../../support/clock/trusted-time.ts';
import { documentText, unpadded } from '../../../support/docs/documents.ts';
import { startWalletBench, type WalletBench } from '../tx/wallet-bench.ts';

const GAS_GOAL = 1_500_000;
const HORIZONS = [1, 2, 3, 7];

let bench: WalletBench;
let reader: AttestationReader;
beforeAll(async () => {
  bench = await startWalletBench();
  reader = createAttestationReader(await bench.chain.connect());
});
afterAll(() => bench.stop());

async function newAttester(): Promise<{ attester: Attester; wallet: Wallet }> {
  const wallet = await bench.wallet((await bench.newAccount()).account);
  return { wallet, attester: createAttester(await bench.chain.connect(), wallet) };
}

const hash = (text: string) => keccak256(stringToHex(text));
const day = toDay(Date.now());
const opening = (horizonDays: number) =>
  ({
    salt: deriveSalt('master', `day:${horizonDays}d`),
    signal: 'SELL',
    direction: 'DOWN',
    confidenceBps: 6_100,
    pUpBps: 3_900,
    btcPriceCents: 11_234_567,
  }) as const;

function prediction(horizonDays: number, sequence = 1): PredictionData {
  return {
    sequence,
    day,
    horizonDays,
    windowOpensAt: new Date(toInstantMs(day + 1)),
    resolvesAt: new Date(toInstantMs(day + 1 + horizonDays)),
    commitment: computeCommitment(opening(horizonDays)),
    inputsDigest: hash('inputs'),
    metadata: hash(`metadata ${horizonDays}`),
  };
}

const predictions = (refUid: Hex = zeroHash) => HORIZONS.map((horizonDays) => ({ ...prediction(horizonDays), refUid }));

describe('schemas', () => {
  it('are registered once under the computed uid, and found by another wallet', async () => {
    const [one, other] = await Promise.all([newAttester(), newAttester()]);
    const uids = await one.attester.ensureSchemas();
    expect(uids).toEqual({ prediction: getSchemaUid('prediction'), resolution: getSchemaUid('resolution') });
    const client = (await bench.chain.connect()).client;
    for (const name of ['prediction', 'resolution'] as const) {
      const call = { address: bench.chain.addresses.schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema' } as const;
      const record = await client.readContract({ ...call, args: [uids[name]] });
      expect(record).toEqual({ uid: uids[name], resolver: zeroAddress, revocable: false, schema: EAS_SCHEMAS[name] });
    }
    await Promise.all([one.attester.ensureSchemas(), other.attester.ensureSchemas()]);
    expect(await bench.mined(one.wallet.address)).toHaveLength(2);
    expect(await bench.mined(other.wallet.address)).toHaveLength(0);
  });
});

describe('predictions of a day', () => {
  it('are attested in one transaction, in order, within the gas goal', async () => {
    const { attester, wallet } = await newAttester();
    const [previous] = await attester.attestPredictions('attest:yesterday', [{ ...prediction(7), refUid: zeroHash }], REACHED);
    const attested = await attester.attestPredictions('attest:today', predictions(previous.uid), REACHED);
    console.log(`gas of four predictions in one multiAttest: ${attested[0].gasUsed}`);
    expect(attested[0].gasUsed).toBeLessThanOrEqual(GAS_GOAL);
    expect(new Set(attested.map(({ txHash }) => txHash)).size).toBe(1);
    expect(attested.every(({ attestationsInTransaction }) => attestationsInTransaction === 4)).toBe(true);
    for (const [index, { uid, at }] of attested.entries()) {
      expect(await reader.read(uid)).toMatchObject({
        uid,
        attester: wallet.address,
        schemaName: 'prediction',
        schemaVersion: '1',
        refUid: previous.uid,
        at,
        revoked: false,
        decoded: expect.arrayContaining([
          { name: 'horizonDays', type: 'uint16', value: HORIZONS[index] },
          { name: 'windowOpensAt', type: 'uint64', value: toInstantMs(day + 1) / 1000 },
        ]),
      });
    }
  });

  it('are attested once when the step is repeated', async () => {
    const { attester, wallet } = await newAttester();
    const first = await attester.attestPredictions('attest:again', predictions(), REACHED);
    expect(await attester.attestPredictions('attest:again', predictions(), REACHED)).toEqual(first);
    expect(await bench.mined(wallet.address)).toHaveLength(1);
  });

  it('send no transaction when there are none', async () => {
    const { attester, wallet } = await newAttester();
    expect(await attester.attestPredictions('attest:none', [], REACHED)).toEqual([]);
    expect(await bench.mined(wallet.address)).toHaveLength(0);
  });

  it('are found by their events', async () => {
    const { attester } = await newAttester();
    const first = await attester.attestPredictions('attest:found:1', predictions(), REACHED);
    await bench.chain.mine(3);
    const second = await attester.attestPredictions('attest:found:2', predictions(), REACHED);
    const options = { schema: 'prediction', attester: attester.address, fromBlock: 0 } as const;
    const found = await reader.find(options);
    expect(found).toEqual(
      [...first, ...second].map(({ uid, txHash, blockNumber }) => ({ uid, txHash, blockNumber, blockAt: expect.any(Date) })),
    );
    expect(await reader.find({ ...options, fromBlock: second[0].blockNumber })).toHaveLength(4);
    expect(await reader.find({ ...options, schema: 'resolution' })).toEqual([]);
  });
});

describe('a resolution', () => {
  it('refers to its prediction and opens its commitment', async () => {
    const { attester } = await newAttester();
    const [predicted] = await attester.attestPredictions('attest:resolved', predictions(), REACHED);
    const data: ResolutionData = {
      ...opening(1),
      btcAtSignalCents: 11_200_000,
      btcAtResolutionCents: 11_000_000,
      returnBps: -179,
      outcome: 'WIN',
    };
    const [resolved] = await attester.attestResolutions('resolve:1', [{ ...data, refUid: predicted.uid }], REACHED);
    console.log(`gas of one resolution: ${resolved.gasUsed}`);
    const onChain = (await reader.read(resolved.uid))!;
    expect(onChain.refUid).toBe(predicted.uid);
    expect(decodeResolution(onChain.data)).toEqual(data);
    const before = (await reader.read(predicted.uid))!;
    expect(decodePrediction(before.data).commitment).toBe(computeCommitment(data));
    expect(before.content).toMatchObject({ uid: predicted.uid, revocable: false, expirationTime: 0n, data: before.data });
  });
});

describe('resolutions of a day', () => {
  it('cost between the documented gas of four HOLD outcomes and of none', async () => {
    const { attester } = await newAttester();
    const predicted = await attester.attestPredictions('attest:costs', predictions(), REACHED);
    const outcome = { btcAtSignalCents: 11_200_000, btcAtResolutionCents: 11_000_000, returnBps: -179 };
    const gasOf = async (called: Pick<ResolutionData, 'signal' | 'outcome'>) => {
      const items = HORIZONS.map((horizonDays, index) => ({
        ...opening(horizonDays),
        ...outcome,
        ...called,
        refUid: predicted[index].uid,
      }));
      return (await attester.attestResolutions(`resolve:${called.signal}`, items, REACHED))[0].gasUsed;
    };
    const said = /four revealed \| [\d,]+ \+ ([\d,]+) to ([\d,]+): a HOLD takes ([\d,]+) less \|/.exec(
      unpadded(documentText('docs/SETTINGS.md')),
    )!;
    const [least, most, less] = said.slice(1).map((number) => Number(number.replaceAll(',', '')));
    const [held, called] = [await gasOf({ signal: 'HOLD', outcome: 'HOLD' }), await gasOf({ signal: 'SELL', outcome: 'WIN' })];
    const toTheTenThousand = (gas: number) => Math.round(gas / 10_000) * 10_000;
    expect([held, called, (called - held) / HORIZONS.length].map(toTheTenThousand)).toEqual([least, most, less]);
  });
});

describe('an attestation of another schema', () => {
  it('is read without decoded fields', async () => {
    const outsider = await newAttester();
    const { addresses } = bench.chain;
    const register = encodeFunctionData({ abi: schemaRegistryAbi, functionName: 'register', args: ['string word', zeroAddress, true] });
    await outsider.wallet.send({ key: 'foreign:schema', to: addresses.schemaRegistry, data: register });
    const request = { recipient: zeroAddress, expirationTime: 0n, revocable: true, refUID: zeroHash, data: '0x1234', value: 0n } as const;
    const schema = keccak256(encodePacked(['string', 'address', 'bool'], ['string word', zeroAddress, true]));
    const data = encodeFunctionData({ abi: easAbi, functionName: 'multiAttest', args: [[{ schema, data: [request] }]] });
    const { logs } = await outsider.wallet.send({ key: 'foreign', to: addresses.eas, data });
    const onChain = (await reader.read(logs[0].data))!;
    expect(onChain).toMatchObject({ schema: 'string word', schemaName: null, schemaVersion: '', decoded: [] });
  });
});

it('returns null for an unknown uid', async () => {
  expect(await reader.read(hash('nothing'))).toBeNull();
});
