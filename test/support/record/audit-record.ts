import {
  type Address,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  type TransactionReceipt,
  toEventSelector,
  zeroAddress,
  zeroHash,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { deriveSalt } from '../../../src/chain/eas/eas.ts';
import {
  computeCommitment,
  EAS_SCHEMAS,
  easAbi,
  encodePrediction,
  encodeResolution,
  getSchemaUid,
  type PredictionData,
  type ResolutionData,
  type SchemaName,
  schemaRegistryAbi,
} from '../../../src/chain/eas/schemas.ts';
import { fundGas } from '../../../src/dev/local-chain/contracts.ts';
import { type Day, MINUTE_MS, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import { formatForecastId } from '../../../src/record/forecast-doc.ts';
import type { TestChain } from '../chain/chain.ts';

export const AUDITED_HORIZONS = [1, 3] as const;
export const AUDITED_DAYS = 6;

export type Item<Data> = Data & { refUid: Hex };

/** What is attested, day by day; a test may change it, double it or leave it out. `index` counts days from 0. */
export interface Tampering {
  /** Attester of the record; default: a new wallet. */
  account?: LocalAccount;
  prediction?(item: Item<PredictionData>, index: number): Item<PredictionData>[];
  resolution?(item: Item<ResolutionData>, index: number, horizonDays: number): Item<ResolutionData>[];
  /** When a day's forecasts are attested; default 21:38 UTC. */
  attestAtMs?(index: number, day: Day): number | undefined;
}

export interface WrittenRecord {
  attester: Address;
  firstDay: Day;
  /** Two days after everything is resolved that was due. */
  now: Date;
}

/** Synthetic closes: they rise and fall, by whole dollars. */
export function closeUsd(day: Day): number {
  return 60_000 + ((day * 7_919) % 101) * 37;
}

const ATTESTED_TOPIC = toEventSelector('Attested(address,address,bytes32,bytes32)');

export async function registerSchemas(chain: TestChain): Promise<void> {
  const sender = await senderOn(chain, chain.accounts.attester);
  for (const text of Object.values(EAS_SCHEMAS)) {
    const data = encodeFunctionData({ abi: schemaRegistryAbi, functionName: 'register', args: [text, zeroAddress, false] });
    await sender.send(chain.addresses.schemaRegistry, data);
  }
}

/** A record of an attester of its own on a chain whose clock goes on with it: honest, but for what is tampered with. */
export async function writeRecord(chain: TestChain, tampering: Tampering = {}, days = AUDITED_DAYS): Promise<WrittenRecord> {
  const account = tampering.account ?? privateKeyToAccount(generatePrivateKey());
  await fundGas(chain.rpcUrl, [account.address]);
  const sender = await senderOn(chain, account);
  const firstDay = toDay(await lastBlockMs(chain)) + 1;
  const previous = new Map<number, Hex>();
  const open: { index: number; horizonDays: number; uid: Hex }[] = [];
  for (let index = 0; index < days; index++) {
    const day = firstDay + index;
    const at = tampering.attestAtMs?.(index, day) ?? toInstantMs(day, 21, 38);
    // What is late comes after the resolutions of that midnight.
    const late = at >= toInstantMs(day + 1);
    if (late) await resolveDue(day + 1);
    await chain.rpc('evm_setNextBlockTimestamp', Math.ceil(at / 1000));
    const honest = AUDITED_HORIZONS.map((horizonDays) => predictionOf({ firstDay, index, horizonDays }, previous.get(horizonDays)));
    const items = honest.flatMap((item) => tampering.prediction?.(item, index) ?? [item]);
    const uids = await sender.attest(
      'prediction',
      items.map((item) => ({ data: encodePrediction(item), refUid: item.refUid })),
    );
    for (const [position, { horizonDays }] of items.entries()) {
      // Of doubles the first goes on.
      if (open.some((one) => one.index === index && one.horizonDays === horizonDays)) continue;
      open.push({ index, horizonDays, uid: uids[position] });
      previous.set(horizonDays, uids[position]);
    }
    if (!late) await resolveDue(day + 1);
  }
  return { attester: account.address, firstDay, now: new Date(toInstantMs(firstDay + days + 1)) };

  async function resolveDue(today: Day): Promise<void> {
    const due = open.filter(({ index, horizonDays }) => firstDay + index + 1 + horizonDays === today);
    const items = due.flatMap(({ index, horizonDays, uid }) => {
      const honest = { refUid: uid, ...resolutionOf({ firstDay, index, horizonDays }) };
      return tampering.resolution?.(honest, index, horizonDays) ?? [honest];
    });
    if (items.length === 0) return;
    await chain.rpc('evm_setNextBlockTimestamp', (toInstantMs(today) + 5 * MINUTE_MS) / 1000);
    await sender.attest(
      'resolution',
      items.map((item) => ({ data: encodeResolution(item), refUid: item.refUid })),
    );
  }
}

/** Secret of the salts of these records. */
export const SALT_SECRET = 'a secret of the test';

export interface Place {
  firstDay: Day;
  index: number;
  horizonDays: number;
}

export function openingOf({ firstDay, index, horizonDays }: Place) {
  const day = firstDay + index;
  const pUpBps = 4_000 + ((day * 31 + horizonDays * 7) % 20) * 100 + 50;
  const direction = pUpBps > 5_000 ? ('UP' as const) : ('DOWN' as const);
  const signal = Math.abs(pUpBps - 5_000) < 200 ? ('HOLD' as const) : direction === 'UP' ? ('BUY' as const) : ('SELL' as const);
  const salt = deriveSalt(SALT_SECRET, formatForecastId(day, horizonDays));
  return { salt, signal, direction, confidenceBps: Math.max(pUpBps, 10_000 - pUpBps), pUpBps, btcPriceCents: closeUsd(day) * 100 - 123 };
}

export function predictionOf(place: Place, previousUid: Hex = zeroHash): Item<PredictionData> {
  const { firstDay, index, horizonDays } = place;
  const day = firstDay + index;
  return {
    sequence: index + 1,
    day,
    horizonDays,
    windowOpensAt: new Date(toInstantMs(day + 1)),
    resolvesAt: new Date(toInstantMs(day + 1 + horizonDays)),
    commitment: computeCommitment(openingOf(place)),
    inputsDigest: `0x${'11'.repeat(32)}`,
    metadata: `0x${'22'.repeat(32)}`,
    refUid: previousUid,
  };
}

export function resolutionOf(place: Place): ResolutionData {
  const { firstDay, index, horizonDays } = place;
  const day = firstDay + index;
  const opening = openingOf(place);
  const [from, to] = [closeUsd(day), closeUsd(day + horizonDays)];
  const right = opening.direction === 'UP' ? to > from : to <= from;
  return {
    ...opening,
    btcAtSignalCents: from * 100,
    btcAtResolutionCents: to * 100,
    returnBps: Math.round((to / from - 1) * 10_000),
    outcome: opening.signal === 'HOLD' ? 'HOLD' : right ? 'WIN' : 'LOSS',
  };
}

async function lastBlockMs({ rpc }: TestChain): Promise<number> {
  const { timestamp } = await rpc<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
  return Number(timestamp) * 1000;
}

/** Sends at once, each in a block of its own. */
async function senderOn({ rpc, chainId, addresses }: TestChain, account: LocalAccount) {
  let nonce = Number(await rpc<Hex>('eth_getTransactionCount', account.address, 'latest'));
  async function send(to: Address, data: Hex): Promise<TransactionReceipt> {
    const fees = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 0n, gas: 5_000_000n };
    const signed = await account.signTransaction({ type: 'eip1559', chainId, to, data, nonce: nonce++, ...fees });
    const receipt = await rpc<TransactionReceipt>('eth_sendRawTransactionSync', signed);
    if (String(receipt.status) !== '0x1') throw new Error(`a transaction of the test was reverted: ${JSON.stringify(receipt)}`);
    return receipt;
  }
  return {
    send,
    async attest(name: SchemaName, items: { data: Hex; refUid: Hex }[]): Promise<Hex[]> {
      const requests = items.map(({ data, refUid }) => ({
        ...{ recipient: zeroAddress, expirationTime: 0n, revocable: false, refUID: refUid, data, value: 0n },
      }));
      const data = encodeFunctionData({
        abi: easAbi,
        functionName: 'multiAttest',
        args: [[{ schema: getSchemaUid(name), data: requests }]],
      });
      const { logs } = await send(addresses.eas, data);
      return logs.filter(({ topics }) => topics[0] === ATTESTED_TOPIC).map((log) => log.data);
    },
  };
}
