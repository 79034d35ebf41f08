import { isDeepStrictEqual } from 'node:util';
import {
  type Address,
  BaseError,
  erc721Abi,
  type Hex,
  isAddressEqual,
  keccak256,
  RpcRequestError,
  serializeTransaction,
  type Transaction,
} from 'viem';
import { type Chain, REORG_MARGIN_BLOCKS } from '../chain/client.ts';
import {
  type AttestationLog,
  createAttestationReader,
  decodePrediction,
  decodeResolution,
  type OnChainAttestation,
  type SchemaName,
} from '../chain/eas/schemas.ts';
import type { Journal, JournalRow, MinedRow } from '../chain/journal.ts';
import { chainCall, findReceipt, toBlockTime, toChainError } from '../chain/rpc.ts';
import type { LocalChain } from '../dev/local-chain/local-chain.ts';
import { getErrorMessage, isOracleError, OracleError } from '../errors.ts';
import { formatDay } from '../forecast/day.ts';
import type { Market } from '../market/market.ts';
import { damagedPartError, formatResetCommand } from '../platform/data-dir.ts';
import {
  buildExpectedPrediction,
  buildExpectedResolution,
  buildResolution,
  type ForecastDoc,
  formatBatchKey,
  fromCents,
  type Resolution,
  toCents,
} from '../record/forecast-doc.ts';
import type { ForecastRecord } from '../record/forecasts.ts';

/** Rejects parts that do not belong together: feed, chain, database. @throws OracleError CONFIG_INVALID, DATA_DIR_DAMAGED, CHAIN_UNREACHABLE */
export async function requireSameHistory(
  deps: Omit<AttestationCheckDeps, 'afterBlock'> & { dataDir: string; record: ForecastRecord; market: Market },
): Promise<void> {
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

/** With another database the same days would be attested twice, or the days of a rehearsal shown as those of the record. Its own one has a confirmed transaction, or one of the attester. @throws OracleError CONFIG_INVALID, CHAIN_UNREACHABLE */
export async function requireOwnDatabase({ chainId, client, addresses }: Chain, journal: Journal, attester: Address): Promise<void> {
  if ((await journal.findLastConfirmed(chainId)) !== null) return;
  if ((await journal.findHighestNonce(chainId, attester)) !== null) return;
  if (await journal.hasOtherChain(chainId))
    throw new OracleError('CONFIG_INVALID', `Setting MONGODB_URI: this database holds a record of another chain than ${chainId}`, {
      field: 'MONGODB_URI',
      suggestedAction: 'Begin with an empty database, new keys and a new SALT_SECRET.',
    });
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

/** What a killed local chain has lost is restored before: a transaction that is missing now belongs to another chain. */
async function requireKnownChain(chain: Chain, journal: Journal): Promise<void> {
  const last = await journal.findLastConfirmed(chain.chainId);
  if (last === null) return;
  const { hash } = last.receipt!;
  if ((await findReceipt(chain, hash, 'Reading the last transaction')) !== null) return;
  const problem = `The local chain does not have transaction ${hash} (${last.key}) that the database has seen on it`;
  throw damagedPartError(problem);
}

/** Attestations that no transaction of the journal has made, in chain order. */
export interface ForeignAttestations {
  predictions: AttestationLog[];
  resolutions: AttestationLog[];
}

interface AttestationCheckDeps {
  chain: Chain;
  journal: Journal;
  attester: Address;
  isLocalChain: boolean;
  /** A block before the first transaction that the journal does not contain, if known. */
  afterBlock?: number;
  /** Takes all of these into the database, or resolves to false. */
  adopt?(found: ForeignAttestations): Promise<boolean>;
}

/** With an older database, such as a backup, days would be attested twice, unless what it lacks is adopted. @throws OracleError CONFIG_INVALID, DATA_DIR_DAMAGED, CHAIN_UNREACHABLE */
export async function requireKnownAttestations(deps: AttestationCheckDeps): Promise<void> {
  const afterBlock = deps.afterBlock ?? (await findLastOwnTransaction(deps))?.signedFromBlock;
  if (afterBlock === undefined) return;
  const fromBlock = Math.max(0, afterBlock - REORG_MARGIN_BLOCKS);
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
  const found = await createAttestationReader(chain).find({ schema, attester, fromBlock });
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

interface AdoptionDeps extends Pick<AttestationCheckDeps, 'chain' | 'journal' | 'attester'> {
  record: ForecastRecord;
  saltSecret: string;
}

/** Attestations of one transaction, in its order; none where the endpoint lacks one. */
interface Batch {
  txHash: Hex;
  attestations: OnChainAttestation[];
}

interface Adoption {
  row: JournalRow;
  decisions: Map<string, Resolution>;
}

/**
 * Reads back what a later state of this database had attested: commitments and outcomes of forecasts that it has, which the chain repeats in full.
 * The transactions go into the journal under the keys that their steps use, and the decisions into the forecasts, first: the steps then find both
 * and complete them as after a crash, with scores and events. False, with nothing written, unless every attestation is exactly what this record
 * would have attested. A commitment of a forecast that the database does not have cannot be: its values are not on chain before its outcome, and
 * most of them never.
 */
export async function adoptAttestations(deps: AdoptionDeps, found: ForeignAttestations): Promise<boolean> {
  const predictions = await readBatches(deps, found.predictions);
  const resolutions = await readBatches(deps, found.resolutions);
  const byUid = new Map<Hex, ForecastDoc>();
  const adoptions: (Adoption | null)[] = [];
  for (const batch of predictions) adoptions.push(await adoptPredictions(deps, batch, byUid));
  for (const batch of resolutions) adoptions.push(await adoptResolutions(deps, batch, byUid));
  const complete = adoptions.filter((adoption) => adoption !== null);
  if (complete.length < adoptions.length) return false;
  for (const { decisions } of complete) await deps.record.adoptResolutions(decisions);
  for (const { row } of complete) await deps.journal.insert(row);
  return true;
}

async function readBatches({ chain }: AdoptionDeps, logs: readonly AttestationLog[]): Promise<Batch[]> {
  const reader = createAttestationReader(chain);
  const batches: Batch[] = [];
  for (const [txHash, members] of Map.groupBy(logs, (log) => log.txHash)) {
    const read = await Promise.all(members.map(({ uid }) => reader.read(uid)));
    const attestations = read.filter((attestation) => attestation !== null);
    batches.push({ txHash, attestations: attestations.length < read.length ? [] : attestations });
  }
  return batches;
}

async function adoptPredictions(
  deps: AdoptionDeps,
  { txHash, attestations }: Batch,
  byUid: Map<Hex, ForecastDoc>,
): Promise<Adoption | null> {
  if (attestations.length === 0) return null;
  const contents = attestations.map(({ data }) => decodePrediction(data));
  const day = contents[0]!.day;
  const docs = await deps.record.listByDay(day);
  const isOwn = docs.every((doc, index) => {
    const { refUid: _, ...expected } = buildExpectedPrediction(doc);
    return isDeepStrictEqual(contents[index], expected) && (doc.attestation?.uid ?? attestations[index]!.uid) === attestations[index]!.uid;
  });
  if (docs.length !== contents.length || !isOwn) return null;
  for (const [index, { uid }] of attestations.entries()) byUid.set(uid, docs[index]!);
  return buildAdoption(deps, txHash, `attest:${formatDay(day)}`);
}

async function adoptResolutions(deps: AdoptionDeps, batch: Batch, byUid: ReadonlyMap<Hex, ForecastDoc>): Promise<Adoption | null> {
  const docs = await findResolved(deps, batch, byUid);
  if (docs === null) return null;
  const key = docs[0]!.resolution?.batch ?? formatBatchKey(docs.toSorted((a, b) => a.horizonDays - b.horizonDays));
  const decisions = new Map<string, Resolution>();
  for (const [index, doc] of docs.entries()) {
    const { refUid, at, data } = batch.attestations[index]!;
    const content = decodeResolution(data);
    const { btcAtSignalCents, btcAtResolutionCents } = content;
    // The venues of the quorum are not on chain.
    const facts = { btcAtSignalCents, btcAtResolutionCents, venues: [], deviationBps: 0, decidedAt: at, batch: key };
    const resolution = doc.resolution ?? buildResolution(doc, facts);
    const attested = { ...doc, attestation: { uid: refUid } as ForecastDoc['attestation'], resolution };
    if (resolution.batch !== key || !isDeepStrictEqual({ refUid, ...content }, buildExpectedResolution(attested, deps.saltSecret)))
      return null;
    decisions.set(doc._id, resolution);
  }
  return buildAdoption(deps, batch.txHash, key, decisions);
}

/** The forecasts that a batch resolves; null unless all are known, end together, and stand in the order that the resolve step writes. */
async function findResolved(
  { record }: AdoptionDeps,
  { attestations }: Batch,
  byUid: ReadonlyMap<Hex, ForecastDoc>,
): Promise<ForecastDoc[] | null> {
  const uids = attestations.map(({ refUid }) => refUid);
  const attested = await record.forecasts.find({ 'attestation.uid': { $in: uids } }).toArray();
  const known = new Map([...byUid, ...attested.map((doc) => [doc.attestation!.uid, doc] as const)]);
  const docs = uids.map((uid) => known.get(uid));
  const isBatch = docs.every(
    (doc, index) =>
      doc !== undefined &&
      doc.values !== null &&
      doc.resolvesAt.getTime() === docs[0]!.resolvesAt.getTime() &&
      (index === 0 || docs[index - 1]!._id < doc._id),
  );
  return isBatch && docs.length > 0 ? (docs as ForecastDoc[]) : null;
}

/**
 * Null for a transaction that this service does not send, or whose key or nonce another one has.
 * @throws OracleError CHAIN_UNREACHABLE, also for a transaction that the endpoint does not have
 */
async function buildAdoption(
  { chain, journal, attester }: AdoptionDeps,
  txHash: Hex,
  key: string,
  decisions = new Map<string, Resolution>(),
): Promise<Adoption | null> {
  const transaction = await chainCall('Reading a transaction', () => chain.client.getTransaction({ hash: txHash }));
  const row = buildAdoptedRow(transaction, { role: 'attester', key, now: new Date() });
  if (row === null || !isAddressEqual(row.address, attester) || !isAddressEqual(row.to, chain.addresses.eas)) return null;
  const taken = [await journal.find(row._id), await journal.findByNonce(chain.chainId, attester, row.nonce)];
  // Signed before the backup and replaced after it: the wallet finds the replacement by its call.
  const isKnown = taken.every((other) => other === null || (other._id === row._id && other.nonce === row.nonce));
  return isKnown ? { row, decisions } : null;
}

/**
 * The journal row of a mined transaction that a lost state of the journal had: as if it had been sent and not followed up, so that its wallet waits
 * for its depth, and sends it again after a reorganisation. Null for a transaction whose signature cannot be rebuilt.
 */
function buildAdoptedRow(transaction: Transaction, { role, key, now }: { role: string; key: string; now: Date }): JournalRow | null {
  const { chainId, hash, nonce, to, input, value, gas, from, blockNumber, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = transaction;
  const raw = rebuildRaw(transaction);
  if (raw === null || chainId === undefined || to === null || blockNumber === null) return null;
  const fees = { maxFeePerGas: String(maxFeePerGas), maxPriorityFeePerGas: String(maxPriorityFeePerGas) };
  return {
    _id: `${chainId}:${role}:${key}`,
    ...{ key, role, chainId, nonce },
    ...{ address: from, to, data: input, value: String(value), gas: String(gas) },
    state: 'SENT',
    version: 0,
    signedFromBlock: Math.max(0, Number(blockNumber) - 1),
    attempts: [{ hash, raw, ...fees, signedAt: now, atBlock: Number(blockNumber) }],
    displaced: [],
    receipt: null,
    createdAt: now,
    updatedAt: now,
  };
}

function rebuildRaw(transaction: Transaction): Hex | null {
  if (transaction.type !== 'eip1559') return null;
  const { chainId, nonce, to, input: data, value, gas, maxFeePerGas, maxPriorityFeePerGas, accessList, r, s, yParity } = transaction;
  const call = { type: 'eip1559', chainId, nonce, to, data, value, gas, maxFeePerGas, maxPriorityFeePerGas, accessList } as const;
  const raw = serializeTransaction(call, { r, s, yParity });
  return keccak256(raw) === transaction.hash ? raw : null;
}

interface LostTransactionsDeps {
  chain: Chain;
  journal: Journal;
  localChain: Pick<LocalChain, 'setNextBlockTime' | 'syncToWallClock'>;
}

type NodeMethod = 'eth_sendRawTransaction' | 'evm_mine' | 'evm_setAutomine';

/**
 * Sends again what the journal has confirmed and a killed local chain had not saved, in order and each at the time of its block, so that the same
 * attestations result. Resolves to DATA_DIR_DAMAGED where that cannot be: on a chain of another record, or where such a transaction needs one that
 * the journal does not have. @throws OracleError CHAIN_UNREACHABLE
 */
export async function restoreLostTransactions(deps: LostTransactionsDeps): Promise<OracleError | null> {
  const { chain, journal, localChain } = deps;
  const last = await journal.findLastConfirmed(chain.chainId);
  if (last === null || (await isOnChain(chain, last))) return null;
  const height = await readHeight(chain);
  const mined = (await journal.listMined(chain.chainId)) as MinedRow[];
  const kept = mined.filter(({ receipt }) => receipt.blockNumber <= height);
  const lastKept = kept.at(-1);
  if (lastKept !== undefined && !(await isOnChain(chain, lastKept))) return lostError(lastKept, 'other blocks have taken its place');
  // A block may have several.
  for (const rows of Map.groupBy(mined.slice(kept.length), ({ receipt }) => receipt.blockNumber).values()) {
    const error = await mineAgain(deps, rows);
    if (error !== null) return error;
  }
  await localChain.syncToWallClock();
  return null;
}

async function isOnChain(chain: Chain, { receipt }: JournalRow): Promise<boolean> {
  return (await findReceipt(chain, receipt!.hash, 'Reading the last transaction')) !== null;
}

/** @param rows of one block */
async function mineAgain({ chain, localChain }: LostTransactionsDeps, rows: readonly MinedRow[]): Promise<OracleError | null> {
  const [first] = rows as [MinedRow];
  const { at, blockNumber } = first.receipt;
  const signed = rows.map(({ attempts, receipt }) => attempts.find(({ hash }) => hash === receipt.hash)?.raw);
  if (signed.some((raw) => raw === undefined || raw === '0x')) return lostError(first, 'the journal does not have its signature');
  try {
    await requestNode(chain, 'evm_setAutomine', false);
    await localChain.setNextBlockTime(at.getTime());
    // Blocks without a transaction of the journal are replaced by empty ones.
    for (let height = await readHeight(chain); height < blockNumber - 1; height += 1) await requestNode(chain, 'evm_mine');
    for (const raw of signed) await requestNode(chain, 'eth_sendRawTransaction', raw);
    await localChain.setNextBlockTime(at.getTime());
    await requestNode(chain, 'evm_mine');
  } catch (error) {
    if (!isRejection(error)) throw toChainError('Sending a lost transaction again', error);
    return lostError(first, getErrorMessage(error).split('\n')[0]!);
  } finally {
    await requestNode(chain, 'evm_setAutomine', true);
  }
  for (const row of rows) {
    const error = await findDifference(chain, row);
    if (error !== null) return error;
  }
  return null;
}

/** An answer of the node, such as that a nonce is missing. No answer says nothing of what the chain can take. */
function isRejection(error: unknown): boolean {
  if (isOracleError(error)) return error.code !== 'CHAIN_UNREACHABLE';
  return error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError) !== null;
}

async function readHeight({ client }: Chain): Promise<number> {
  return Number(await client.getBlockNumber({ cacheTime: 0 }));
}

function requestNode({ client }: Chain, method: NodeMethod, ...params: unknown[]): Promise<unknown> {
  return client.request<{ Method: NodeMethod; Parameters: unknown[]; ReturnType: unknown }>({ method, params });
}

/** The uid of an attestation depends on the time of its block, and is in its log. */
async function findDifference(chain: Chain, row: MinedRow): Promise<OracleError | null> {
  const { hash, at, blockNumber, logs } = row.receipt;
  const receipt = await findReceipt(chain, hash, 'Reading a restored transaction');
  if (receipt === null) return lostError(row, 'it is not mined');
  const block = await chainCall('Reading a restored block', () => chain.client.getBlock({ blockNumber: receipt.blockNumber }));
  const found = receipt.logs.map(({ address, topics, data }) => ({ address, topics: [...topics], data }));
  const isSame =
    Number(receipt.blockNumber) === blockNumber && toBlockTime(block).getTime() === at.getTime() && isDeepStrictEqual(found, logs);
  return isSame ? null : lostError(row, `in block ${receipt.blockNumber} it has another effect`);
}

function lostError({ key, receipt }: MinedRow, why: string): OracleError {
  return damagedPartError(`The local chain has lost transaction ${receipt.hash} (${key}), and it cannot be sent again: ${why}`);
}
