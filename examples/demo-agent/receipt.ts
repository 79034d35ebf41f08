import canonicalize from 'canonicalize';
import {
  type Address,
  erc20Abi,
  type Hash,
  type Hex,
  isAddressEqual,
  keccak256,
  parseEventLogs,
  stringToBytes,
  verifyTypedData,
} from 'viem';
import type { Agent } from './agent.ts';
import { check, usd } from './narrate.ts';

/** What a sold answer brings along: EIP-712 typed data, signed by the seller. */
export interface Receipt {
  domain: { name: string; version: string; chainId: number };
  types: { Receipt: { name: string; type: string }[] };
  message: { payer: Address; payee: Address; amount: string; answerHash: Hash; attestationUid: Hash; txHash: Hash; settledAt: string };
  signature: Hex;
  signer: Address;
}

/** The seller's signature, what it was given for, and the money on chain: then the agent has paid. */
export async function checkReceipt(
  agent: Agent,
  receipt: Receipt,
  { answer, seller }: { answer: unknown; seller: Address },
): Promise<void> {
  const { domain, types, message, signature, signer } = receipt;
  const typed = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
  const isSigned = await verifyTypedData({ address: signer, domain, types, primaryType: 'Receipt', message: typed, signature });
  check(isSigned && isAddressEqual(signer, seller), `the receipt is signed by the seller ${short(seller)}`);
  check(isAddressEqual(message.payer, agent.account.address), 'it names this wallet as the payer');
  check(keccak256(stringToBytes(canonicalize(answer)!)) === message.answerHash, 'its answerHash is the hash of the answer');
  await checkPaid(agent, message);
}

/** What a transaction has moved from the agent to a payee. */
export async function checkPaid(
  agent: Agent,
  { txHash, payee, amount }: { txHash: Hash; payee: Address; amount: string | bigint },
): Promise<void> {
  const { logs } = await agent.chain.getTransactionReceipt({ hash: txHash });
  const coins = logs.filter(({ address }) => isAddressEqual(address, agent.contracts.stablecoin));
  const moved = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', args: { from: agent.account.address, to: payee }, logs: coins });
  const paid = moved.reduce((sum, { args }) => sum + args.value, 0n);
  check(paid === BigInt(amount), `${usd(paid)} went to ${short(payee)} in ${short(txHash)}`);
  agent.spent += paid;
}

export function short(hex: string): string {
  return `${hex.slice(0, 6)}…${hex.slice(-4)}`;
}
