import { createHmac } from 'node:crypto';
import { type Address, encodeFunctionData, type Hex, toEventSelector, zeroAddress } from 'viem';
import { isOracleError, OracleError } from '../../errors.ts';
import type { ReachedInstant } from '../../platform/time.ts';
import type { Chain } from '../client.ts';
import type { StoredReceipt } from '../journal.ts';
import { chainCall } from '../rpc.ts';
import type { ConfirmedTransaction, Wallet } from '../wallet.ts';
import {
  EAS_SCHEMAS,
  easAbi,
  encodePrediction,
  encodeResolution,
  getSchemaUid,
  type PredictionData,
  type ResolutionData,
  requireBytes32,
  type SchemaName,
  schemaRegistryAbi,
} from './schemas.ts';

/** The referenced attestation: the horizon's previous prediction, or the prediction that is resolved. Zero: none. */
export interface AttestationReference {
  refUid: Hex;
}

/** An attestation at its confirmation depth; gas and fees are those of the whole transaction. */
export interface ConfirmedAttestation extends Pick<StoredReceipt, 'blockNumber' | 'at' | 'gasUsed' | 'l1FeeWei'> {
  uid: Hex;
  txHash: Hex;
  effectiveGasPriceWei: string;
  attestationsInTransaction: number;
}

export interface Attester {
  readonly address: Address;
  ensureSchemas(): Promise<Record<SchemaName, Hex>>;
  /** All items in one transaction, in order. @param due proof that the commitment is due @throws as `Wallet.send`; INPUT_INVALID */
  attestPredictions(key: string, items: (PredictionData & AttestationReference)[], due: ReachedInstant): Promise<ConfirmedAttestation[]>;
  /** @param over proof that the outcome windows have ended */
  attestResolutions(key: string, items: (ResolutionData & AttestationReference)[], over: ReachedInstant): Promise<ConfirmedAttestation[]>;
}

const ATTESTED_TOPIC = toEventSelector('Attested(address,address,bytes32,bytes32)');

export function createAttester(chain: Chain, wallet: Wallet): Attester {
  let registered: Promise<unknown> | undefined;
  const schemas = { prediction: getSchemaUid('prediction'), resolution: getSchemaUid('resolution') };

  async function ensureSchemas(): Promise<Record<SchemaName, Hex>> {
    registered ??= Promise.all([ensureSchema(chain, wallet, 'prediction'), ensureSchema(chain, wallet, 'resolution')]);
    await registered.catch((error) => {
      registered = undefined;
      throw error;
    });
    return schemas;
  }

  async function attest<T extends AttestationReference>(key: string, schema: SchemaName, items: T[], encode: (item: T) => Hex) {
    const encoded = items.map((item) => ({ data: encode(item), refUid: item.refUid }));
    if (encoded.length === 0) return [];
    await ensureSchemas();
    const data = encodeMultiAttest(schemas[schema], encoded);
    const sent = await wallet.send({ key, to: chain.addresses.eas, data, followsOthers: true }).catch((error) => {
      // A reorganisation may have taken the registration off the chain.
      registered = undefined;
      throw error;
    });
    return parseAttestations(sent, chain.addresses.eas, items.length);
  }

  return {
    address: wallet.address,
    ensureSchemas,
    attestPredictions: (key, items, _due) => attest(key, 'prediction', items, encodePrediction),
    attestResolutions: (key, items, _over) => attest(key, 'resolution', items, encodeResolution),
  };
}

async function ensureSchema(chain: Chain, wallet: Wallet, name: SchemaName): Promise<void> {
  const uid = getSchemaUid(name);
  if (await isRegistered(chain, uid)) return;
  const data = encodeFunctionData({ abi: schemaRegistryAbi, functionName: 'register', args: [EAS_SCHEMAS[name], zeroAddress, false] });
  try {
    await wallet.send({ key: `schema:${uid}`, to: chain.addresses.schemaRegistry, data });
  } catch (error) {
    // Registration is permissionless: another account may have registered the schema in between.
    if (!isOracleError(error, 'CHAIN_REVERTED') || !(await isRegistered(chain, uid))) throw error;
  }
}

async function isRegistered({ client, addresses }: Chain, uid: Hex): Promise<boolean> {
  const call = { address: addresses.schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema', args: [uid] } as const;
  return (await chainCall('Reading a schema', () => client.readContract(call))).uid === uid;
}

function encodeMultiAttest(schema: Hex, items: (AttestationReference & { data: Hex })[]): Hex {
  const data = items.map((item) => ({
    recipient: zeroAddress,
    expirationTime: 0n,
    revocable: false,
    refUID: requireBytes32('refUid', item.refUid),
    data: item.data,
    value: 0n,
  }));
  return encodeFunctionData({ abi: easAbi, functionName: 'multiAttest', args: [[{ schema, data }]] });
}

/** Uids of what a transaction attested, in its order. */
export function listAttestedUids({ logs }: Pick<StoredReceipt, 'logs'>, eas: Address): Hex[] {
  return filterAttested(logs, eas).map(({ data }) => data);
}

function filterAttested(logs: StoredReceipt['logs'], eas: Address): StoredReceipt['logs'] {
  return logs.filter((log) => log.topics[0] === ATTESTED_TOPIC && log.address.toLowerCase() === eas.toLowerCase());
}

/** The uid is the only `Attested` argument that is not indexed; events are in the order of the items. */
function parseAttestations(sent: ConfirmedTransaction, eas: Address, expected: number): ConfirmedAttestation[] {
  const logs = filterAttested(sent.logs, eas);
  if (logs.length !== expected) {
    throw new OracleError('ATTESTATION_MISMATCH', `Transaction ${sent.hash} made ${logs.length} attestations instead of ${expected}`);
  }
  return logs.map((log) => ({
    uid: log.data,
    txHash: sent.hash,
    blockNumber: sent.blockNumber,
    at: sent.at,
    gasUsed: sent.gasUsed,
    effectiveGasPriceWei: String(sent.effectiveGasPrice),
    ...(sent.l1Fee === 0n ? {} : { l1FeeWei: String(sent.l1Fee) }),
    attestationsInTransaction: expected,
  }));
}

/** Salt of a forecast: HMAC-SHA256 of its id under the master secret, so it can be derived again without the database. */
export function deriveSalt(masterSecret: string, forecastId: string): Hex {
  if (masterSecret === '') throw new OracleError('INPUT_INVALID', 'The master secret of the salts is empty', { field: 'masterSecret' });
  return `0x${createHmac('sha256', masterSecret).update(forecastId).digest('hex')}`;
}
