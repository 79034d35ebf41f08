import type { Chain } from '../chain/client.ts';
import type { Journal } from '../chain/journal.ts';
import { chainCall } from '../chain/rpc-error.ts';
import { OracleError } from '../errors.ts';
import type { Market } from '../market/market.ts';
import { fromCents, toCents } from '../record/forecast.ts';
import type { ForecastRecord } from '../record/record.ts';

export interface HistoryParts {
  record: ForecastRecord;
  market: Market;
  chain: Chain;
  journal: Journal;
  /** The chain is one that a data folder holds. */
  local: boolean;
}

/**
 * Refuses to go on with parts that do not belong together: a record made from another feed, or a local chain that has lost what the
 * database knows of it.
 * @throws OracleError CONFIG_INVALID, DATA_DIR_DAMAGED
 */
export async function requireSameHistory({ record, market, chain, journal, local }: HistoryParts): Promise<void> {
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
  const lastDay = await record.lastDay();
  const last = lastDay === null ? null : await record.day(lastDay);
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

/** A local chain is saved at intervals: after a power failure it may be older than the database. */
async function requireKnownChain({ chainId, client }: Chain, journal: Journal): Promise<void> {
  const last = await journal.lastConfirmed(chainId);
  if (last === null) return;
  const { hash } = last.receipt!;
  const found = await chainCall('Reading the last transaction', () => client.getTransactionReceipt({ hash }).catch(missingIsNull));
  if (found !== null) return;
  throw new OracleError(
    'DATA_DIR_DAMAGED',
    `The local chain does not have transaction ${hash} (${last.key}) that the database has seen on it`,
    {
      field: 'DATA_DIR',
      suggestedAction: 'npm run reset',
    },
  );
}

function missingIsNull(error: unknown): null {
  if ((error as { name?: string }).name === 'TransactionReceiptNotFoundError') return null;
  throw error;
}
