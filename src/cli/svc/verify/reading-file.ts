import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address, Hex } from 'viem';
import { z } from 'zod';
import type { AuditChain } from '../../../audit/chain/audit-chain.ts';
import { createReadingState, type ReadingState } from '../../../audit/chain/read-record.ts';
import type { CliContext } from '../context.ts';
import { getConfigFolder, readJsonFile, writePrivateFile } from '../secrets/private-files.ts';

const HEX = z.custom<Hex>((text) => typeof text === 'string' && /^0x[0-9a-f]*$/i.test(text));
const WHOLE_NUMBER = z.codec(z.string().regex(/^\d{1,20}$/), z.bigint(), { decode: BigInt, encode: String });
const TIME = z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (at) => at.toISOString() });
const LOGS = z.array(z.object({ uid: HEX, txHash: HEX, blockNumber: z.number() }));
const CONTENT = z.object({
  ...{ uid: HEX, schema: HEX, refUID: HEX, recipient: HEX, attester: HEX, data: HEX, revocable: z.boolean() },
  ...{ time: WHOLE_NUMBER, expirationTime: WHOLE_NUMBER, revocationTime: WHOLE_NUMBER },
});

const mapOf = <Key, Value, In>(entry: z.ZodType<[Key, Value], In>) =>
  z.codec(z.array(entry), z.custom<Map<Key, Value>>(), { decode: (entries) => new Map(entries), encode: (map) => [...map] });

const SAVED = z.object({
  scope: z.string(),
  found: z.object({ prediction: LOGS, resolution: LOGS }),
  nextBlock: z.object({ prediction: z.number(), resolution: z.number() }),
  contents: mapOf(z.tuple([HEX, CONTENT])),
  blockTimes: mapOf(z.tuple([z.number(), TIME])),
});

/** The reading of a record that was interrupted (`isContinued`), or a new one. A file of another record, or a damaged one, is not used. */
export async function openReadingFile(context: CliContext, record: { chain: AuditChain; attester: Address; fromBlock: number }) {
  const { chain, attester, fromBlock } = record;
  const scope = `${chain.chainId}:${chain.addresses.eas}:${attester}:${fromBlock}`.toLowerCase();
  const path = join(getConfigFolder(context), `reading-${chain.chainId}-${attester.toLowerCase()}.json`);
  const saved = SAVED.safeParse(await readJsonFile(path));
  const isContinued = saved.success && saved.data.scope === scope;
  const state: ReadingState = isContinued ? saved.data : createReadingState(fromBlock);
  const save = () => writePrivateFile(path, z.encode(SAVED, { scope, ...state }));
  return { state, path, isContinued, save, remove: () => rm(path, { force: true }) };
}
