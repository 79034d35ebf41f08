import { isDeepStrictEqual } from 'node:util';
import type { Hex } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { toBlockTime } from '../../chain/rpc/blocks.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { findReceipt } from '../../chain/rpc/receipts.ts';
import type { Journal, JournalRow, StoredReceipt } from '../../chain/tx/journal.ts';
import type { LocalChain } from '../../dev/local-chain/local-chain.ts';
import { damagedPartError } from '../../platform/data-dir/entries.ts';
import { getErrorMessage } from '../../platform/errors.ts';

export interface LostTransactionsDeps {
  chain: Chain;
  journal: Journal;
  localChain: Pick<LocalChain, 'setNextBlockTime' | 'syncToWallClock'>;
}

type MinedRow = JournalRow & { receipt: StoredReceipt };

/**
 * Sends again what the journal has confirmed and the local chain has lost in a power failure, in order and each at the time of its block, so
 * that the same attestations result. Does nothing on a chain of another record. @throws OracleError DATA_DIR_DAMAGED, CHAIN_UNREACHABLE
 */
export async function restoreLostTransactions(deps: LostTransactionsDeps): Promise<void> {
  const { chain, journal, localChain } = deps;
  const last = await journal.findLastConfirmed(chain.chainId);
  if (last === null || (await isOnChain(chain, last))) return;
  const height = Number(await chainCall('Reading the height', () => chain.client.getBlockNumber({ cacheTime: 0 })));
  const mined = (await journal.listMined(chain.chainId)) as MinedRow[];
  const kept = mined.filter(({ receipt }) => receipt.blockNumber <= height);
  if (kept.length > 0 && !(await isOnChain(chain, kept.at(-1)!))) return;
  for (const row of mined.slice(kept.length)) await sendAgain(deps, row);
  await localChain.syncToWallClock();
}

async function isOnChain(chain: Chain, { receipt }: JournalRow): Promise<boolean> {
  return (await findReceipt(chain, receipt!.hash, 'Reading the last transaction')) !== null;
}

async function sendAgain({ chain, localChain }: LostTransactionsDeps, row: MinedRow): Promise<void> {
  const { hash, at, blockNumber } = row.receipt;
  const raw = row.attempts.find((attempt) => attempt.hash === hash)?.raw;
  if (raw === undefined || raw === '0x') throw lostError(row, 'the journal does not have its signature');
  try {
    await localChain.setNextBlockTime(at.getTime());
    // Blocks without a transaction of the journal are replaced by empty ones.
    for (let height = await readHeight(chain); height < blockNumber - 1; height += 1) await requestNode(chain, 'evm_mine');
    await localChain.setNextBlockTime(at.getTime());
    await requestNode(chain, 'eth_sendRawTransaction', raw);
  } catch (cause) {
    throw lostError(row, getErrorMessage(cause).split('\n')[0]);
  }
  await requireSame(chain, row);
}

async function readHeight({ client }: Chain): Promise<number> {
  return Number(await client.getBlockNumber({ cacheTime: 0 }));
}

function requestNode({ client }: Chain, method: 'evm_mine' | 'eth_sendRawTransaction', ...params: Hex[]): Promise<unknown> {
  return client.request<{ Method: typeof method; Parameters: Hex[]; ReturnType: unknown }>({ method, params });
}

/** The uid of an attestation depends on the time of its block, and is in its log. */
async function requireSame(chain: Chain, row: MinedRow): Promise<void> {
  const { hash, at, blockNumber, logs } = row.receipt;
  const receipt = await findReceipt(chain, hash, 'Reading a restored transaction');
  if (receipt === null) throw lostError(row, 'it is not mined');
  const block = await chainCall('Reading a restored block', () => chain.client.getBlock({ blockNumber: receipt.blockNumber }));
  const found = receipt.logs.map(({ address, topics, data }) => ({ address, topics: [...topics], data }));
  const isSame =
    Number(receipt.blockNumber) === blockNumber && toBlockTime(block).getTime() === at.getTime() && isDeepStrictEqual(found, logs);
  if (!isSame) throw lostError(row, `in block ${receipt.blockNumber} it has another effect`);
}

function lostError({ key, receipt }: MinedRow, why: string): Error {
  return damagedPartError(`The local chain has lost transaction ${receipt.hash} (${key}), and it cannot be sent again: ${why}`);
}
