import { createPublicKey, type KeyObject } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1';
import { ExponentialBackoff, handleType, retry } from 'cockatiel';
import {
  type Address,
  bytesToHex,
  concatHex,
  getAddress,
  getTypesForEIP712Domain,
  type Hex,
  hashMessage,
  hashTypedData,
  hexToBigInt,
  hexToBytes,
  isAddressEqual,
  isHex,
  keccak256,
  type LocalAccount,
  numberToHex,
  parseTransaction,
  recoverAddress,
  type SignableMessage,
  type Signature,
  serializeSignature,
  serializeTransaction,
  serializeTypedData,
  size,
  slice,
  stringToHex,
  type TransactionSerializableEIP1559,
  type TypedDataDefinition,
  zeroHash,
} from 'viem';
import { privateKeyToAccount, publicKeyToAddress, toAccount } from 'viem/accounts';
import { z } from 'zod';
import { getErrorMessage, isOracleError, OracleError } from '../errors.ts';
import { createOperatorFetch, readJson } from '../platform/outbound/operator.ts';
import { type AwsRequestHandler, createAwsRequestHandler } from '../platform/outbound/sdks.ts';
import { expandSignature } from './contracts.ts';
import type { WalletRole } from './wallet.ts';

/** Where a role's wallet signs. `address`: the expected one. */
export type SignerSource =
  | { kind: 'key'; privateKey: Hex; address?: Address }
  | { kind: 'kms'; keyId: string; address?: Address }
  | { kind: 'web3signer'; url: string; address: Address };

/** ARN, https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html: `arn:<partition>:kms:<region>:<account>:key/<id>`. */
export function getArnRegion(keyId: string): string | undefined {
  return /^arn:[^:]+:kms:([^:]+):/.exec(keyId)?.[1];
}

export interface KmsKeyOptions {
  /** Id, ARN, or `alias/name`. */
  keyId: string;
  region: string;
  /** Default: the public endpoint of the region. */
  endpoint?: string;
  /** Default: the credential chain of the SDK. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
}

/** What is used of `@aws-sdk/client-kms`, an optional package, whose types are not installed either. */
export interface KmsSdk {
  KMSClient: new (
    config: Omit<KmsKeyOptions, 'keyId'> & { maxAttempts: number; requestHandler: AwsRequestHandler },
  ) => {
    send(command: object): Promise<{ PublicKey?: Uint8Array; Signature?: Uint8Array }>;
  };
  GetPublicKeyCommand: new (input: { KeyId: string }) => object;
  SignCommand: new (input: { KeyId: string; Message: Uint8Array; MessageType: 'DIGEST'; SigningAlgorithm: 'ECDSA_SHA_256' }) => object;
}

/** https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html: ECDSA_SHA_256 takes any digest of 32 bytes, keccak256 too. */
export function openKmsKey(
  { KMSClient, GetPublicKeyCommand, SignCommand }: KmsSdk,
  options: KmsKeyOptions,
  timeoutMs = SIGNER_TIMEOUT_MS,
): KmsKey {
  const { keyId: KeyId, ...config } = options;
  const requestHandler = createAwsRequestHandler({ endpoint: options.endpoint, timeoutMs });
  // One attempt: `retryBusy` repeats.
  const client = new KMSClient({ ...config, maxAttempts: 1, requestHandler });
  const send = async (command: object) => {
    try {
      return await client.send(command);
    } catch (error) {
      throw toSignerFailure(error);
    }
  };
  return {
    getPublicKey: async () => requireBytes((await send(new GetPublicKeyCommand({ KeyId }))).PublicKey),
    sign: async (digest) => {
      const input = { KeyId, Message: digest, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const;
      return requireBytes((await send(new SignCommand(input))).Signature);
    },
  };
}

/** Errors that AWS also sends with a status below 500, https://docs.aws.amazon.com/kms/latest/APIReference/CommonErrors.html */
const THROTTLING_ERROR = /Throttl|TooManyRequests|RequestLimitExceeded/;

function toSignerFailure(error: unknown): unknown {
  const { name, $metadata } = error as { name: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (status === undefined) return error;
  const Failure = status >= 500 || status === 429 || THROTTLING_ERROR.test(name) ? SignerBusy : SignerRefusal;
  return new Failure(`KMS answers ${name} (${status})`, { cause: error });
}

function requireBytes(bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw new SignerRefusal('KMS answers without the value that was asked for');
  return bytes;
}

/** One asymmetric key of AWS KMS. Rejects with `SignerBusy`, `SignerRefusal`, or the error of a request without an answer. */
export interface KmsKey {
  /** The public key as DER SubjectPublicKeyInfo. */
  getPublicKey(): Promise<Uint8Array>;
  /** @param digest 32 bytes @returns a DER ECDSA signature */
  sign(digest: Uint8Array): Promise<Uint8Array>;
}

/** Reads the public key, whose address is the wallet's. Only hashes are sent to KMS. */
export async function openKmsBackend(key: KmsKey): Promise<SigningBackend> {
  const readAddress = async () => toWalletAddress(await retryBusy(() => key.getPublicKey()));
  const address = await readAddress();
  const signHash = async (hash: Hex) => {
    const der = await retryBusy(() => key.sign(hexToBytes(hash)));
    return toWalletSignature(parseDerSignature(der), hash, address);
  };
  return {
    address,
    signTransaction: async (transaction) => serializeTransaction(transaction, await signHash(keccak256(serializeTransaction(transaction)))),
    signMessage: async (message) => serializeSignature(await signHash(hashMessage(message))),
    signTypedData: async (data) => serializeSignature(await signHash(hashTypedData(data))),
    async ping() {
      if (!isAddressEqual(await readAddress(), address)) throw new SignerRefusal('it has another key now');
    },
  };
}

/** The signer throttles, or fails by itself: HTTP status 429 or 5xx. The same request may succeed in a moment. */
export class SignerBusy extends Error {
  override readonly name = 'SignerBusy';
}

/** A request of a signer ends after it. With the repetitions of `retryBusy` the longest signature takes about 13 s. */
const SIGNER_TIMEOUT_MS = 4_000;

const policy = retry(handleType(SignerBusy), { maxAttempts: 2, backoff: new ExponentialBackoff({ initialDelay: 100, maxDelay: 1_000 }) });

/** Repeats a request twice after `SignerBusy`. Other failures, time-outs too, are left to the caller, whose step is repeated as a whole. */
function retryBusy<T>(request: () => Promise<T>): Promise<T> {
  return policy.execute(request);
}

/** What every kind of signer does. Rejects with `SignerRefusal` for an answer that is no valid signature, with any other error without one. */
interface SigningBackend {
  readonly address: Address;
  /** @returns the signed transaction, serialized */
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
  /** Signs `hashMessage(message)` (EIP-191). */
  signMessage(message: { raw: Hex }): Promise<Hex>;
  signTypedData(data: TypedDataDefinition): Promise<Hex>;
  /** Asks for the key without signing. */
  ping(): Promise<void>;
}

/** The signer of a role's wallet. */
export interface RoleSigner {
  readonly role: WalletRole;
  /** Signs EIP-1559 transactions only. @throws OracleError SIGNER_UNAVAILABLE */
  readonly account: LocalAccount;
  /** Null for a key in this process, which always answers. @throws OracleError SIGNER_UNAVAILABLE */
  readonly ping: (() => Promise<void>) | null;
}

/** The signer answered, but with an error or with something that is not the signature. The message is for the operator. */
export class SignerRefusal extends Error {
  override readonly name = 'SignerRefusal';
}

export function createRoleSigner(role: WalletRole, backend: SigningBackend): RoleSigner {
  const account = toAccount({
    // The journal finds the transactions of a wallet by this spelling, whichever signer it has.
    address: getAddress(backend.address),
    signTransaction: (transaction) =>
      signerCall(role, async () => {
        if (transaction.type !== 'eip1559') throw new Error('signers sign EIP-1559 transactions only');
        return backend.signTransaction(transaction as TransactionSerializableEIP1559);
      }),
    signMessage: ({ message }) => signerCall(role, () => backend.signMessage({ raw: toRawMessage(message) })),
    signTypedData: (data) => signerCall(role, () => backend.signTypedData(data as TypedDataDefinition)),
  });
  return { role, account, ping: () => signerCall(role, () => backend.ping()) };
}

/** Wraps an error of a signer once. Clients read the message: text of the signer goes into the cause only. @throws OracleError SIGNER_UNAVAILABLE */
export async function signerCall<T>(role: WalletRole, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (isOracleError(cause)) throw cause;
    const failure = cause instanceof SignerRefusal ? 'gives no valid signature' : 'does not answer';
    throw new OracleError('SIGNER_UNAVAILABLE', `The signer of the ${role} ${failure}`, {
      suggestedAction: 'Retry later; if it persists, check the signer.',
      retryAfterSeconds: 5,
      cause: cause instanceof Error ? cause : new Error(getErrorMessage(cause)),
    });
  }
}

function toRawMessage(message: SignableMessage): Hex {
  if (typeof message === 'string') return stringToHex(message);
  return typeof message.raw === 'string' ? message.raw : bytesToHex(message.raw);
}

interface EcdsaSignature {
  r: bigint;
  s: bigint;
}

/** @param spki public key as DER SubjectPublicKeyInfo (RFC 5480) @throws SignerRefusal unless it is a key of secp256k1 */
export function toWalletAddress(spki: Uint8Array): Address {
  const key = parsePublicKey(spki);
  if (key.asymmetricKeyDetails?.namedCurve !== 'secp256k1') throw new SignerRefusal('its key is not of the curve secp256k1');
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return publicKeyToAddress(concatHex(['0x04', ...[x, y].map((text) => bytesToHex(Buffer.from(text, 'base64url')))]));
}

/** @param der ECDSA-Sig-Value (RFC 3279) @throws SignerRefusal */
export function parseDerSignature(der: Uint8Array): EcdsaSignature {
  try {
    const { r, s } = secp256k1.Signature.fromDER(der);
    return { r, s };
  } catch (cause) {
    throw new SignerRefusal('its signature cannot be read', { cause });
  }
}

/** With the low `s` that nodes require (EIP-2) and the recovery id by which the wallet is recovered. @throws SignerRefusal for another's signature */
export async function toWalletSignature({ r, s }: EcdsaSignature, hash: Hex, wallet: Address): Promise<Signature> {
  const order = secp256k1.CURVE.n;
  const low = s > order / 2n ? order - s : s;
  for (const yParity of [0, 1]) {
    const signature = { r: numberToHex(r, { size: 32 }), s: numberToHex(low, { size: 32 }), yParity };
    const signer = await recoverAddress({ hash, signature }).catch(() => null);
    if (signer !== null && isAddressEqual(signer, wallet)) return signature;
  }
  throw new SignerRefusal('its signature is not of the wallet, or of something else');
}

function parsePublicKey(spki: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch (cause) {
    throw new SignerRefusal('its public key cannot be read', { cause });
  }
}

/**
 * Has a signer sign what its role will need, so that a missing permission, another chain id or an unsupported method shows at the start and
 * not at the first sale. Nothing of it is of use to a finder. @throws OracleError SIGNER_UNAVAILABLE
 */
export async function checkSigner({ role, account, ping }: RoleSigner, chainId: number): Promise<void> {
  if (ping === null) return;
  const { address } = account;
  // Never valid before 2^53 others of the wallet, and of no effect then.
  const fees = { gas: 21_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
  const nonce = Number.MAX_SAFE_INTEGER;
  await account.signTransaction({ type: 'eip1559', chainId, nonce, to: address, data: '0x', value: 0n, ...fees });
  if (role !== 'provider') return;
  // The types of a receipt's fields, under a name that no program reads.
  await account.signTypedData({
    domain: { name: 'Bitcoin Signal Oracle signer check', version: '1', chainId },
    types: {
      SignerCheck: [
        { name: 'payer', type: 'address' },
        { name: 'amount', type: 'uint256' },
        { name: 'resource', type: 'string' },
        { name: 'answerHash', type: 'bytes32' },
        { name: 'settledAt', type: 'uint64' },
      ],
    },
    primaryType: 'SignerCheck',
    message: { payer: address, amount: 0n, resource: '', answerHash: zeroHash, settledAt: 0n },
  });
}

const ACCOUNTS = z.array(z.string());
const SIGNATURE_BYTES = 65;

/** A Web3Signer. What it signs is checked field by field, and against the wallet: a signer that is wrong or lies gets nothing sent. */
export function createWeb3SignerBackend(call: CallWeb3Signer, address: Address): SigningBackend {
  return {
    address,
    async signTransaction(transaction) {
      const raw = requireHex(await call('eth_signTransaction', [toRpcTransaction(transaction, address)]));
      const signature = readSignature(raw, transaction);
      return serializeTransaction(transaction, await toWalletSignature(signature, keccak256(serializeTransaction(transaction)), address));
    },
    async signMessage(message) {
      // It prefixes the message by EIP-191 itself.
      const signature = splitSignature(await call('eth_sign', [address, message.raw]));
      return serializeSignature(await toWalletSignature(signature, hashMessage(message), address));
    },
    async signTypedData(data) {
      const types = { EIP712Domain: getTypesForEIP712Domain({ domain: data.domain }), ...data.types };
      // The second parameter is a JSON text, not an object.
      const signature = splitSignature(await call('eth_signTypedData', [address, serializeTypedData({ ...data, types })]));
      return serializeSignature(await toWalletSignature(signature, hashTypedData(data), address));
    },
    async ping() {
      const accounts = ACCOUNTS.safeParse(await call('eth_accounts', []));
      if (!accounts.success || !accounts.data.some((account) => account.toLowerCase() === address.toLowerCase()))
        throw new SignerRefusal('eth_accounts: the wallet is not among the accounts');
    },
  };
}

/** Its own chain id applies; it is checked in the answer. */
function toRpcTransaction(transaction: TransactionSerializableEIP1559, from: Address): Record<string, string> {
  const { to, data, nonce = 0, value = 0n, gas = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = transaction;
  if (!to) throw new Error('a transaction of a wallet has a receiver');
  const numbers = { nonce: BigInt(nonce), value, gas, maxFeePerGas, maxPriorityFeePerGas };
  const fields = Object.entries(numbers).map(([name, number]) => [name, numberToHex(number)]);
  return { from, to, data: data ?? '0x', ...Object.fromEntries(fields) };
}

function splitSignature(answer: unknown): EcdsaSignature {
  const hex = expandSignature(requireHex(answer));
  if (size(hex) !== SIGNATURE_BYTES) throw new SignerRefusal('its signature has neither 65 nor 64 bytes');
  return { r: hexToBigInt(slice(hex, 0, 32)), s: hexToBigInt(slice(hex, 32, 64)) };
}

function requireHex(answer: unknown): Hex {
  if (!isHex(answer)) throw new SignerRefusal('its answer is no hex text');
  return answer;
}

const COMPARED_FIELDS = ['chainId', 'nonce', 'to', 'value', 'data', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas'] as const;

/** The signature of a serialized transaction. @throws SignerRefusal naming the field unless it is the one that was asked for */
function readSignature(raw: Hex, asked: TransactionSerializableEIP1559): EcdsaSignature {
  const signed = parse(raw);
  for (const field of COMPARED_FIELDS) {
    if (toText(signed[field]) !== toText(asked[field])) throw new SignerRefusal(`it signed a transaction with another ${field}`);
  }
  if ((signed.accessList ?? []).length > 0) throw new SignerRefusal('it signed a transaction with an access list');
  const { r, s } = signed;
  if (r === undefined || s === undefined) throw new SignerRefusal('its transaction is not signed');
  return { r: hexToBigInt(r), s: hexToBigInt(s) };
}

function parse(raw: Hex) {
  let parsed: ReturnType<typeof parseTransaction>;
  try {
    parsed = parseTransaction(raw);
  } catch (cause) {
    throw new SignerRefusal('its transaction cannot be read', { cause });
  }
  if (parsed.type !== 'eip1559') throw new SignerRefusal('it signed no EIP-1559 transaction');
  return parsed;
}

/** Absent fields are zero or empty in the encoding. */
function toText(value: string | number | bigint | null | undefined): string {
  const text = String(value ?? '').toLowerCase();
  return text === '0' || text === '0x' ? '' : text;
}

type Web3SignerMethod = 'eth_accounts' | 'eth_sign' | 'eth_signTransaction' | 'eth_signTypedData';
type CallWeb3Signer = (method: Web3SignerMethod, params: readonly unknown[]) => Promise<unknown>;

const MAX_BYTES = 1_048_576;
/** JSON-RPC 2.0, section 5.1. */
const INTERNAL_ERROR = -32_603;
const ANSWER = z.union([z.object({ error: z.object({ code: z.number() }) }), z.object({ result: z.unknown() })]);

/** https://docs.web3signer.consensys.io/reference/api/json-rpc. Rejects with `SignerRefusal`, or with the error of a request without an answer. */
export function createWeb3SignerRpc(url: string, timeoutMs = SIGNER_TIMEOUT_MS): CallWeb3Signer {
  const fetchSigner = createOperatorFetch({ base: url, timeoutMs, maxBytes: MAX_BYTES });
  let id = 0;
  return (method, params) =>
    retryBusy(async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params });
      const response = await fetchSigner(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return readResult(method, response);
    });
}

/** A JSON-RPC error is an answer, whatever its HTTP status is; a status of a failure without one is not. */
async function readResult(method: Web3SignerMethod, response: Response): Promise<unknown> {
  const { status } = response;
  const isBusy = status === 429 || status >= 500;
  const parsed = ANSWER.safeParse(await readJson(response).catch(() => undefined));
  if (!parsed.success) {
    if (isBusy) throw new SignerBusy(`${method}: HTTP status ${status}`);
    throw new SignerRefusal(`${method}: the answer is no JSON-RPC (HTTP status ${status})`);
  }
  if (!('error' in parsed.data)) return parsed.data.result;
  const { code } = parsed.data.error;
  if (isBusy && code === INTERNAL_ERROR) throw new SignerBusy(`${method}: error ${code} (HTTP status ${status})`);
  throw new SignerRefusal(`${method}: error ${code} (HTTP status ${status})`);
}

/** A key in the memory of this process. */
export function createKeySigner(role: WalletRole, privateKey: Hex): RoleSigner {
  return { role, account: privateKeyToAccount(privateKey), ping: null };
}
