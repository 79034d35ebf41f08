import type { Address } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { type AttestationLog, createAttestationReader } from '../../chain/eas/attestation-reader.ts';
import { decodePrediction, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import type { Journal, JournalRow } from '../../chain/tx/journal.ts';
import { formatDay } from '../../forecast/day.ts';
import { damagedPartError } from '../../platform/data-dir/entries.ts';
import { OracleError } from '../../platform/errors.ts';

/** Attestations that no transaction of the journal has made, in chain order. */
export interface ForeignAttestations {
  predictions: AttestationLog[];
  resolutions: AttestationLog[];
}

export interface AttestationCheckDeps {
  chain: Chain;
  journal: Journal;
  attester: Address;
  isLocalChain: boolean;
  /** A block before the first transaction that the journal does not contain, if known. */
  afterBlock?: number;
  /** Takes all of these into the database, or resolves to false. */
  adopt?(found: ForeignAttestations): Promise<boolean>;
}

/** Blocks by which a reorganization may move a transaction before the block it was signed at. */
const REORG_MARGIN = 64;
const BLOCKS_PER_REQUEST = 5_000;

/** With an older database, such as a backup, days would be attested twice, unless what it lacks is adopted. @throws OracleError CONFIG_INVALID, DATA_DIR_DAMAGED, CHAIN_UNREACHABLE */
export async function requireKnownAttestations(deps: AttestationCheckDeps): Promise<void> {
  const afterBlock = deps.afterBlock ?? (await findLastOwnTransaction(deps))?.signedFromBlock;
  if (afterBlock === undefined) return;
  const fromBlock = Math.max(0, afterBlock - REORG_MARGIN);
  const predictions = await findForeignAttestations(deps, 'prediction', fromBlock);
  const resolutions = await findForeignAttestations(deps, 'resolution', fromBlock);
  const newest = [...predictions, ...resolutions].toSorted((a, b) => a.blockNumber - b.blockNumber).at(-1);
  if (newest === undefined || (await deps.adopt?.({ predictions, resolutions }))) return;
  const attested = `${await describeForecasts(deps, predictions)}${resolutions.length} outcomes`;
  const last = `the last in block ${newest.blockNumber}, transaction ${newest.txHash}`;
  const what = `${deps.attester} has attested ${attested} that the database knows nothing of, ${last}`;
  throw databaseOlderThanChainError(what, deps.isLocalChain);
}

/** Null unless the chain counts more transactions of the wallet, sent from elsewhere or by a later state of this database. */
async function findLastOwnTransaction({ chain, journal, attester }: AttestationCheckDeps): Promise<JournalRow | null> {
  const { chainId, client } = chain;
  // Read before the journal: another process writes to the journal before it sends.
  const sent = await chainCall('Counting the transactions of the attester', () => client.getTransactionCount({ address: attester }));
  const highest = await journal.findHighestNonce(chainId, attester);
  if (sent <= (highest ?? -1) + 1) return null;
  return highest === null ? journal.findLastConfirmed(chainId) : journal.findByNonce(chainId, attester, highest);
}

async function findForeignAttestations(deps: AttestationCheckDeps, schema: SchemaName, fromBlock: number): Promise<AttestationLog[]> {
  const { chain, journal, attester } = deps;
  const query = { schema, attester, fromBlock, blocksPerRequest: BLOCKS_PER_REQUEST };
  const found = await createAttestationReader(chain).find(query);
  // Read after the events: a process that sends one now wrote it to the journal before.
  const signed = await journal.findSignedHashes(chain.chainId, attester, [...new Set(found.map(({ txHash }) => txHash))]);
  return found.filter(({ txHash }) => !signed.has(txHash));
}

async function describeForecasts({ chain }: AttestationCheckDeps, predictions: readonly AttestationLog[]): Promise<string> {
  if (predictions.length === 0) return '';
  const reader = createAttestationReader(chain);
  const dayOf = async ({ uid }: AttestationLog) => {
    const attestation = await reader.read(uid);
    return attestation === null ? 'a day unknown to the endpoint' : formatDay(decodePrediction(attestation.data).day);
  };
  const [first, last] = [await dayOf(predictions[0]), await dayOf(predictions.at(-1)!)];
  return `${predictions.length} forecasts, of ${first === last ? first : `${first} to ${last}`}, and `;
}

function databaseOlderThanChainError(what: string, local: boolean): OracleError {
  if (local) return damagedPartError(`The database is older than the local chain: ${what}`);
  return new OracleError('CONFIG_INVALID', `Setting MONGODB_URI: the database is older than the chain: ${what}`, {
    field: 'MONGODB_URI',
    suggestedAction:
      'Nothing was sent. Outcomes are read back from the chain, forecasts cannot be: start with the database of the record, or with a backup ' +
      'that was made after these forecasts ("Backup and restore" in docs/OPERATE.md). Without one the record cannot go on: a new one needs a ' +
      'new ATTESTER_PRIVATE_KEY and an empty database.',
  });
}
