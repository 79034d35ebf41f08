import { type Address, encodeFunctionData, type Hex, toEventSelector, zeroAddress } from 'viem';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { Chain } from '../client.ts';
import { chainCall } from '../rpc/chain-call.ts';
import type { ConfirmedTransaction, Wallet } from '../tx/wallet.ts';
import { easAbi, schemaRegistryAbi } from './abi.ts';
import { requireBytes32 } from './commitment.ts';
import {
  EAS_SCHEMAS,
  encodePrediction,
  encodeResolution,
  getSchemaUid,
  type PredictionData,
  type ResolutionData,
  type SchemaName,
} from './schemas.ts';

/** The attestation that another one refers to: the previous prediction of the horizon, or the prediction that is resolved. Zero: none. */
export interface AttestationReference {
  refUid: Hex;
}

/** An attestation at its confirmation depth. */
export interface ConfirmedAttestation {
  uid: Hex;
  txHash: Hex;
  blockNumber: number;
  /** Block time. */
  at: Date;
  /** Cost of the whole transaction, shared by the attestations in it. */
  gasUsed: number;
  effectiveGasPriceWei: string;
  /** What a rollup took for the data of the whole transaction beside the gas; unset: nothing. */
  l1FeeWei?: string;
  attestationsInTransaction: number;
}

export interface Attester {
  readonly address: Address;
  /** Registers the schemas that are missing. Called by the others as needed. */
  ensureSchemas(): Promise<Record<SchemaName, Hex>>;
  /**
   * One transaction for all items, in their order. Errors as `Wallet.send`, and INPUT_INVALID for a value out of range.
   * @param due proves that the commitment is due
   */
  attestPredictions(key: string, items: (PredictionData & AttestationReference)[], due: ReachedInstant): Promise<ConfirmedAttestation[]>;
  /** @param over proves that the outcome windows are over */
  attestResolutions(key: string, items: (ResolutionData & AttestationReference)[], over: ReachedInstant): Promise<ConfirmedAttestation[]>;
}

type EncodedAttestation = AttestationReference & { data: Hex };

const ATTESTED_TOPIC = toEventSelector('Attested(address,address,bytes32,bytes32)');

/** Writes attestations of the schemas in `SCHEMAS` through the attester's wallet. */
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

  async function attest(key: string, schema: SchemaName, items: EncodedAttestation[]): Promise<ConfirmedAttestation[]> {
    if (items.length === 0) return [];
    await ensureSchemas();
    const sent = await wallet.send({ key, to: chain.addresses.eas, data: encodeMultiAttest(schemas[schema], items) });
    return parseAttestations(sent, chain.addresses.eas, items.length);
  }

  return {
    address: wallet.address,
    ensureSchemas,
    attestPredictions: (key, items, _due) =>
      attest(
        key,
        'prediction',
        items.map((item) => ({ data: encodePrediction(item), refUid: item.refUid })),
      ),
    attestResolutions: (key, items, _over) =>
      attest(
        key,
        'resolution',
        items.map((item) => ({ data: encodeResolution(item), refUid: item.refUid })),
      ),
  };
}

async function ensureSchema(chain: Chain, wallet: Wallet, name: SchemaName): Promise<void> {
  const uid = getSchemaUid(name);
  if (await isRegistered(chain, uid)) return;
  const data = encodeFunctionData({ abi: schemaRegistryAbi, functionName: 'register', args: [EAS_SCHEMAS[name], zeroAddress, false] });
  try {
    await wallet.send({ key: `schema:${uid}`, to: chain.addresses.schemaRegistry, data });
  } catch (error) {
    // Anybody may register a schema, so somebody may have done so in between.
    if (!isOracleError(error, 'CHAIN_REVERTED') || !(await isRegistered(chain, uid))) throw error;
  }
}

async function isRegistered({ client, addresses }: Chain, uid: Hex): Promise<boolean> {
  const call = { address: addresses.schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema', args: [uid] } as const;
  return (await chainCall('Reading a schema', () => client.readContract(call))).uid === uid;
}

function encodeMultiAttest(schema: Hex, items: EncodedAttestation[]): Hex {
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

/** The uid is the one word of an `Attested` event that is not indexed; the events come in the order of the items. */
function parseAttestations(sent: ConfirmedTransaction, eas: Address, expected: number): ConfirmedAttestation[] {
  const logs = sent.logs.filter((log) => log.topics[0] === ATTESTED_TOPIC && log.address.toLowerCase() === eas.toLowerCase());
  if (logs.length !== expected) {
    throw new OracleError('ATTESTATION_MISMATCH', `Transaction ${sent.hash} made ${logs.length} attestations instead of ${expected}`);
  }
  const { hash: txHash, blockNumber, at, gasUsed, effectiveGasPrice, l1Fee } = sent;
  const fees = { effectiveGasPriceWei: String(effectiveGasPrice), ...(l1Fee === 0n ? {} : { l1FeeWei: String(l1Fee) }) };
  const shared = { txHash, blockNumber, at, gasUsed, ...fees };
  return logs.map((log) => ({ uid: log.data, ...shared, attestationsInTransaction: expected }));
}
