import type { Db } from 'mongodb';
import { type Address, concatHex, encodeFunctionData, type Hash, type Hex, type LocalAccount, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Chain } from '../../../src/chain/client.ts';
import { COMMERCE_INDEXES, Ledger } from '../../../src/commerce/ledger.ts';
import type { ComposedDocument, MerchantConfig } from '../../../src/commerce/offerings.ts';
import {
  buildPurchaseMessage,
  PURCHASE_INDEXES,
  type PurchaseRequest,
  PurchaseService,
  type PurchaseServiceDeps,
  PurchaseStore,
} from '../../../src/commerce/purchases.ts';
import { createReceiptSigner } from '../../../src/commerce/receipts.ts';
import { fundGas } from '../../../src/dev/local-chain/contracts.ts';
import { createLog } from '../../../src/platform/log.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import type { TestChain } from '../chain/chain.ts';
import { waitForReceipt } from '../chain/mined.ts';

export const tokenAbi = parseAbi([
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
]);

export interface Buying {
  merchant: MerchantConfig;
  ledger: Ledger;
  store: PurchaseStore;
  /** A wallet with gas and 100 of the stablecoin. */
  buyer: LocalAccount;
  /** Number of composed documents. */
  composed(): number;
  /** Another process on the same database and chain, with short documents. */
  open(change?: Partial<PurchaseServiceDeps>): PurchaseService;
  /** Pays the payee; resolves once it is mined, or with `isMined` false at once. */
  pay(micros: bigint, change?: { from?: LocalAccount; to?: Address; coin?: Address; isMined?: boolean }): Promise<Hash>;
  mint(to: Address, micros: bigint, coin?: Address): Promise<Hash>;
  send(from: LocalAccount, to: Address, data: Hex): Promise<Hash>;
}

/** The purchase service on a real chain and database, with stub documents. */
export async function buyingBench(chain: TestChain, db: Db, connected: Chain): Promise<Buying> {
  await ensureIndexes(db, [...COMMERCE_INDEXES, ...PURCHASE_INDEXES]);
  const buyer = privateKeyToAccount(generatePrivateKey());
  await fundGas(chain.rpcUrl, [buyer.address]);
  const { stablecoin: asset } = chain.addresses;
  const payee = chain.accounts.provider.address;
  const merchant = {
    chainId: chain.chainId,
    asset,
    domain: { name: 'USDC', version: '2' },
    realMoney: false,
    payee,
    publicUrl: 'https://oracle.example.org',
  };
  const [ledger, store] = [new Ledger(db), new PurchaseStore(db)];
  let composed = 0;
  const compose = async (offering: string, now: Date): Promise<ComposedDocument> => {
    composed += 1;
    return { document: { kind: offering, generatedAt: now.toISOString(), number: composed }, forecastId: null, attestationUid: null };
  };
  const options: PurchaseServiceDeps = {
    ...{ chain: connected, merchant, ledger, store, compose },
    signReceipt: createReceiptSigner(chain.accounts.provider, chain.chainId),
    signatures: 'optional',
    requireOpen: () => undefined,
    excludedBuyers: [],
    signal: new AbortController().signal,
    log: createLog({ level: 'silent', secrets: [] }),
    now: () => new Date(),
  };
  const sendRaw = (from: LocalAccount, to: Address, data: Hex) => hashOf(chain, from, { to, data });
  const send: Buying['send'] = async (...sent) => mined(connected, await sendRaw(...sent));
  const mint: Buying['mint'] = (to, micros, coin = asset) =>
    send(chain.deployer, coin, encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [to, micros] }));
  await mint(buyer.address, 100_000_000n);
  return {
    ...{ merchant, ledger, store, buyer, send, mint },
    composed: () => composed,
    open: (change) => new PurchaseService({ ...options, ...change }),
    pay: (micros, { from = buyer, to = payee, coin = asset, isMined = true } = {}) =>
      (isMined ? send : sendRaw)(from, coin, encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, micros] })),
  };
}

/** The node responds before the transaction is mined. */
export async function mined({ client }: Pick<Chain, 'client'>, hash: Hash): Promise<Hash> {
  await waitForReceipt(client, hash);
  return hash;
}

/** Returns the hash without waiting for the receipt; a reverting transaction has one, too. */
async function hashOf({ rpc, chainId }: TestChain, from: LocalAccount, call: { to: Address; data: Hex }): Promise<Hash> {
  const nonce = Number(await rpc<Hex>('eth_getTransactionCount', from.address, 'pending'));
  const raw = await from.signTransaction({ type: 'eip1559', chainId, nonce, gas: 1_000_000n, maxFeePerGas: 10n ** 11n, ...call });
  return rpc<Hash>('eth_sendRawTransaction', raw);
}

/** Adds the buyer's signature to a request. */
export async function signedRequest(request: PurchaseRequest, account: LocalAccount): Promise<PurchaseRequest> {
  return { ...request, signature: await account.signMessage({ message: buildPurchaseMessage(request.offering, request.txHash) }) };
}

/** Puts a contract at an address that calls another one twice with the data it is called with. */
export async function twiceCaller({ rpc }: TestChain, at: Address, callee: Address): Promise<void> {
  // CALLDATACOPY to memory, then CALL(gas, callee, 0, memory, nothing back) two times.
  const call = concatHex(['0x600060003660006000', '0x73', callee, '0x5af150']);
  await rpc('anvil_setCode', at, concatHex(['0x3660006000', '0x37', call, call, '0x00']));
}
