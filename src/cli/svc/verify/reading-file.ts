import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address, Hex } from 'viem';
import { z } from 'zod';
import type { AuditChain } from '../../../audit/chain/audit-chain.ts';
import { createReadingState, type ReadingState } from '../../../audit/chain/read-record.ts';
import type { CliContext } from '../context.ts';
import { getConfigFolder, readJsonFile, writePrivateFile } from '../secrets/private-files.ts';

const HEX = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .transform((text) => text as Hex);
const WHOLE_NUMBER = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);
const LOGS = z.array(z.object({ uid: HEX, txHash: HEX, blockNumber: z.number() }));
const CONTENT = z.object({
  ...{ uid: HEX, schema: HEX, refUID: HEX, recipient: HEX, attester: HEX, data: HEX, revocable: z.boolean() },
  ...{ time: WHOLE_NUMBER, expirationTime: WHOLE_NUMBER, revocationTime: WHOLE_NUMBER },
});
const SAVED = z.object({
  scope: z.string(),
  found: z.object({ prediction: LOGS, resolution: LOGS }),
  nextBlock: z.object({ prediction: z.number(), resolution: z.number() }),
  contents: z.array(z.tuple([HEX, CONTENT])).transform((entries) => new Map(entries)),
  blockTimes: z.array(z.tuple([z.number(), z.coerce.date()])).transform((entries) => new Map(entries)),
});

export interface ReadingFile {
  state: ReadingState;
  path: string;
  /** Whether an interrupted reading continues. */
  isContinued: boolean;
  save(): Promise<void>;
  remove(): Promise<void>;
}

/** The reading of a record that was interrupted, or a new one. A file of another record, or a damaged one, is not used. */
export async function openReadingFile(
  context: CliContext,
  { chain, attester, fromBlock }: { chain: AuditChain; attester: Address; fromBlock: number },
): Promise<ReadingFile> {
  const scope = `${chain.chainId}:${chain.addresses.eas}:${attester}:${fromBlock}`.toLowerCase();
  const path = join(getConfigFolder(context), `reading-${chain.chainId}-${attester.toLowerCase()}.json`);
  const saved = SAVED.safeParse(await readJsonFile(path));
  const isContinued = saved.success && saved.data.scope === scope;
  const state = isContinued ? saved.data : createReadingState(fromBlock);
  return { state, path, isContinued, save: () => writePrivateFile(path, toSaved(scope, state)), remove: () => rm(path, { force: true }) };
}

function toSaved(scope: string, { found, nextBlock, contents, blockTimes }: ReadingState) {
  const toPlain = (value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  const plain = [...contents].map(([uid, content]) => [
    uid,
    Object.fromEntries(Object.entries(content).map(([key, value]) => [key, toPlain(value)])),
  ]);
  return { scope, found, nextBlock, contents: plain, blockTimes: [...blockTimes] };
}
