import { type Address, erc721Abi } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { findReceipt } from '../../chain/rpc/receipts.ts';
import type { Journal } from '../../chain/tx/journal.ts';
import type { Market } from '../../market/market.ts';
import { damagedPartError, formatResetCommand } from '../../platform/data-dir/entries.ts';
import { OracleError } from '../../platform/errors.ts';
import { fromCents, toCents } from '../../record/forecast-doc.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import { type AttestationCheckDeps, requireKnownAttestations } from './known-attestations.ts';

export interface HistoryDeps extends Omit<AttestationCheckDeps, 'afterBlock'> {
  dataDir: string;
  record: ForecastRecord;
  market: Market;
}

/** Rejects parts that do not belong together: feed, chain, database. @throws OracleError CONFIG_INVALID, DATA_DIR_DAMAGED, CHAIN_UNREACHABLE */
export async function requireSameHistory(deps: HistoryDeps): Promise<void> {
  const { record, market, chain, journal, attester, isLocalChain: local, adopt, dataDir } = deps;
  const newRecord = local ? `; ${formatResetCommand(dataDir)} begins a new record` : '';
  await requireOwnDatabase(chain, journal, attester);
  await requireKnownAttestations({ chain, journal, attester, isLocalChain: local, adopt });
  const source = await record.claimSource(market.source);
  if (source !== market.source) {
    throw new OracleError('CONFIG_INVALID', `Setting FEEDS: this record was made from ${source}, not from ${market.source}`, {
      field: 'FEEDS',
      suggestedAction: `Start with the feed of the record, or with another DATA_DIR${newRecord}.`,
    });
  }
  if (market.kind === 'csv') await requireSamePrice(record, market, newRecord);
  if (local) await requireKnownChain(chain, journal);
}

/** A folder's files may have changed under the same name: they must contain the last price of the record. */
async function requireSamePrice(record: ForecastRecord, market: Market, newRecord: string): Promise<void> {
  const lastDay = await record.findLastDay();
  const last = lastDay === null ? null : await record.findDay(lastDay);
  if (!last?.price) return;
  const { priceUsd } = await market.spot(last.signalAt.getTime());
  if (toCents(priceUsd) === last.price.cents) return;
  const [had, has] = [fromCents(last.price.cents), fromCents(toCents(priceUsd))];
  const problem = `the record has ${had} USD on ${last._id}, the files of ${market.source} have ${has}`;
  throw new OracleError('CONFIG_INVALID', `Setting FEEDS: ${problem}`, {
    field: 'FEEDS',
    suggestedAction: `Start with the folder that the record was made from, or with another DATA_DIR${newRecord}.`,
  });
}

/** With another database the same days would be attested twice. Its own one has a confirmed transaction, or one of the attester. @throws OracleError CONFIG_INVALID, CHAIN_UNREACHABLE */
export async function requireOwnDatabase({ chainId, client, addresses }: Chain, journal: Journal, attester: Address): Promise<void> {
  if ((await journal.findLastConfirmed(chainId)) !== null) return;
  if ((await journal.findHighestNonce(chainId, attester)) !== null) return;
  const call = { address: addresses.identityRegistry, abi: erc721Abi, functionName: 'balanceOf', args: [attester] } as const;
  if ((await chainCall('Reading the agents of the attester', () => client.readContract(call))) === 0n) return;
  // Another process may have begun the record meanwhile: it writes to the journal before it sends.
  if ((await journal.findHighestNonce(chainId, attester)) !== null) return;
  const problem = `${attester} has begun a record on chain ${chainId} that this database knows nothing of`;
  throw new OracleError('CONFIG_INVALID', `Setting MONGODB_URI: ${problem}`, {
    field: 'MONGODB_URI',
    suggestedAction:
      'Start with the database of that record, or its backup; a new record needs a new ATTESTER_PRIVATE_KEY. ' +
      'If someone else transferred an agent to the wallet, transfer it away.',
  });
}

/** What a local chain has lost in a power failure is restored before: a transaction that is missing now belongs to another chain. */
async function requireKnownChain(chain: Chain, journal: Journal): Promise<void> {
  const last = await journal.findLastConfirmed(chain.chainId);
  if (last === null) return;
  const { hash } = last.receipt!;
  if ((await findReceipt(chain, hash, 'Reading the last transaction')) !== null) return;
  const problem = `The local chain does not have transaction ${hash} (${last.key}) that the database has seen on it`;
  throw damagedPartError(problem);
}
