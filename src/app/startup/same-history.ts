import { type Address, erc721Abi } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { findReceipt } from '../../chain/rpc/receipts.ts';
import type { Journal } from '../../chain/tx/journal.ts';
import type { Market } from '../../market/market.ts';
import { OracleError } from '../../platform/errors.ts';
import { fromCents, toCents } from '../../record/forecast-doc.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import { requireKnownAttestations } from './known-attestations.ts';

export interface HistoryDeps {
  record: ForecastRecord;
  market: Market;
  chain: Chain;
  journal: Journal;
  /** Who attests, and owns the agent's identity. */
  attester: Address;
  /** The chain is one that a data folder holds. */
  isLocalChain: boolean;
}

/**
 * Refuses to go on with parts that do not belong together: a record made from another feed, a local chain that has lost what the database
 * knows of it, or a database that knows nothing, or less than all, of what the attester has attested on chain.
 * @throws OracleError CONFIG_INVALID, DATA_DIR_DAMAGED, CHAIN_UNREACHABLE
 */
export async function requireSameHistory({ record, market, chain, journal, attester, isLocalChain: local }: HistoryDeps): Promise<void> {
  await requireOwnDatabase(chain, journal, attester);
  await requireKnownAttestations({ chain, journal, attester, isLocalChain: local });
  const source = await record.claimSource(market.source);
  if (source !== market.source) {
    throw new OracleError('CONFIG_INVALID', `Setting FEEDS: this record was made from ${source}, not from ${market.source}`, {
      field: 'FEEDS',
      suggestedAction: 'Start with the feed of the record, or with another DATA_DIR; npm run reset begins a new record.',
    });
  }
  if (market.kind === 'csv') await requireSamePrice(record, market);
  if (local) await requireKnownChain(chain, journal);
}

/** Folders of one name may hold different files: the last price of the record has to be in them. */
async function requireSamePrice(record: ForecastRecord, market: Market): Promise<void> {
  const lastDay = await record.findLastDay();
  const last = lastDay === null ? null : await record.findDay(lastDay);
  if (!last?.price) return;
  const { priceUsd } = await market.spot(last.signalAt.getTime());
  if (toCents(priceUsd) === last.price.cents) return;
  const [had, has] = [fromCents(last.price.cents), fromCents(toCents(priceUsd))];
  throw new OracleError(
    'CONFIG_INVALID',
    `Setting FEEDS: the record has ${had} USD on ${last._id}, the files of ${market.source} have ${has}`,
    {
      field: 'FEEDS',
      suggestedAction: 'Start with the folder that the record was made from, or with another DATA_DIR; npm run reset begins a new record.',
    },
  );
}

/**
 * On another database the same days would be attested a second time under the same numbers, for good. This one is known by any transaction
 * that the chain has confirmed, since an attester may be new to a record, or by one of the attester that is still on its way.
 */
async function requireOwnDatabase({ chainId, client, addresses }: Chain, journal: Journal, attester: Address): Promise<void> {
  if ((await journal.findLastConfirmed(chainId)) !== null) return;
  if ((await journal.findHighestNonce(chainId, attester)) !== null) return;
  const call = { address: addresses.identityRegistry, abi: erc721Abi, functionName: 'balanceOf', args: [attester] } as const;
  if ((await chainCall('Reading the agents of the attester', () => client.readContract(call))) === 0n) return;
  // Another process may have begun it in between: it writes down what it then sends.
  if ((await journal.findHighestNonce(chainId, attester)) !== null) return;
  throw new OracleError(
    'CONFIG_INVALID',
    `Setting MONGODB_URI: ${attester} has begun a record on chain ${chainId} that this database knows nothing of`,
    {
      field: 'MONGODB_URI',
      suggestedAction:
        'Start with the database of that record, or its backup; a new record needs a new ATTESTER_PRIVATE_KEY. ' +
        'If a stranger has sent the wallet its agent, give that away.',
    },
  );
}

/** A local chain is saved at intervals: after a power failure it may be older than the database. */
async function requireKnownChain(chain: Chain, journal: Journal): Promise<void> {
  const last = await journal.findLastConfirmed(chain.chainId);
  if (last === null) return;
  const { hash } = last.receipt!;
  if ((await findReceipt(chain, hash, 'Reading the last transaction')) !== null) return;
  throw new OracleError(
    'DATA_DIR_DAMAGED',
    `The local chain does not have transaction ${hash} (${last.key}) that the database has seen on it`,
    {
      field: 'DATA_DIR',
      suggestedAction: 'npm run reset',
    },
  );
}
