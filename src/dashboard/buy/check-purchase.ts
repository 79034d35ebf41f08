import type { Hex } from 'viem';
import { hashDocument, type SignedReceipt } from '../../commerce/receipts/receipt.ts';
import type { PaidAnswer } from './purchase.ts';
import { hashReceipt } from './receipt-hash.ts';

export interface PurchaseCheck {
  what: string;
  ok: boolean;
}

interface CheckContext {
  chainId: number;
  /** Receipt signer that the service publishes. */
  seller: string;
  /** JSON-RPC endpoint of the chain. */
  endpoint: string;
}

interface ChainLog {
  address: string;
  topics: readonly string[];
  data: string;
}

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Precompiled contract that recovers the signer of a hash. */
const ECRECOVER = '0x0000000000000000000000000000000000000001';

/** Checks receipt and transaction of a paid answer, the latter on chain. @throws Error when the chain cannot be read */
export async function checkPurchase(bought: PaidAnswer, { chainId, seller, endpoint }: CheckContext): Promise<PurchaseCheck[]> {
  const { payment, receipt, ...answer } = bought;
  const { message, signature } = receipt as { message: SignedReceipt['message']; signature: string };
  const { txHash } = payment as { txHash: string };
  const [signer, transaction] = await Promise.all([
    recoverSigner(endpoint, hashReceipt(message, chainId), signature),
    callChain(endpoint, 'eth_getTransactionReceipt', [txHash]) as Promise<{ status: string; logs: ChainLog[] } | null>,
  ]);
  const { payer, payee, asset, amount } = message;
  const isTransfer = ({ address, topics, data }: ChainLog) =>
    isSame(address, asset) &&
    topics[0] === TRANSFER_TOPIC &&
    isSame(`0x${topics[1].slice(26)}`, payer) &&
    isSame(`0x${topics[2].slice(26)}`, payee) &&
    BigInt(data) === BigInt(amount);
  return [
    { what: 'The seller has signed the receipt', ok: isSame(signer, seller) },
    { what: 'It is for exactly this call', ok: hashDocument(answer) === message.answerHash },
    { what: 'It names the transaction', ok: isSame(txHash, message.txHash) },
    {
      what: 'On chain, the transaction moved the price from payer to seller',
      ok: transaction?.status === '0x1' && transaction.logs.some(isTransfer),
    },
  ];
}

async function recoverSigner(endpoint: string, hash: Hex, signature: string) {
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)];
  const data = `${hash}${v.padStart(64, '0')}${r}${s}`;
  return `0x${String(await callChain(endpoint, 'eth_call', [{ to: ECRECOVER, data }, 'latest'])).slice(26)}`;
}

async function callChain(endpoint: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { result } = await response.json();
  if (result === undefined) throw new Error('The chain does not answer');
  return result;
}

function isSame(one: string, other: string) {
  return one.toLowerCase() === other.toLowerCase();
}
