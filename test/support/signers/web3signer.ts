import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Hex, hexToBigInt, hexToNumber, type TypedDataDefinition } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { listenOnLoopback } from '../network/loopback-server.ts';

interface Call {
  method: string;
  params: unknown[];
}

type RpcReply = { result: unknown } | { error: { code: number; message: string } };
/** An answer of a test's own: a reply, or a status and a body. `silent`: none. */
export type Answer = RpcReply | { status: number; body: string } | 'silent';

export interface TestWeb3Signer {
  url: string;
  calls: string[];
  /** Answers in place of the signer; undefined: it answers itself. */
  answer: ((call: Call) => Answer | undefined | Promise<Answer | undefined>) | null;
  close(): Promise<void>;
}

const NO_ACCOUNT = { error: { code: -32_000, message: 'No unlocked account matches the Sender' } };

/** Web3Signer in its mode `eth1`, https://docs.web3signer.consensys.io/reference/api/json-rpc, with keys in memory. */
export async function startWeb3Signer(keys: readonly Hex[], chainId: number): Promise<TestWeb3Signer> {
  const accounts = keys.map((key) => privateKeyToAccount(key));
  const find = (address: unknown) => accounts.find((account) => account.address.toLowerCase() === String(address).toLowerCase());
  const server = createServer(async (request, response) => {
    const call = JSON.parse(await text(request)) as Call & { id: number };
    signer.calls.push(call.method);
    const answer = (await signer.answer?.(call)) ?? (await sign(call, { accounts, find, chainId }));
    if (answer === 'silent') return;
    if ('status' in answer) return void response.writeHead(answer.status).end(answer.body);
    response.writeHead('error' in answer ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, ...answer }));
  });
  const signer: TestWeb3Signer = { ...(await listenOnLoopback(server)), calls: [], answer: null };
  return signer;
}

interface Keys {
  accounts: PrivateKeyAccount[];
  find(address: unknown): PrivateKeyAccount | undefined;
  chainId: number;
}

async function sign({ method, params }: Call, { accounts, find, chainId }: Keys): Promise<RpcReply> {
  const [first, second] = params as [Record<string, Hex> & string, string];
  switch (method) {
    case 'eth_accounts':
      return { result: accounts.map(({ address }) => address.toLowerCase()) };
    case 'eth_sign': {
      const account = find(first);
      return account === undefined ? NO_ACCOUNT : { result: await account.signMessage({ message: { raw: second as Hex } }) };
    }
    case 'eth_signTypedData': {
      const account = find(first);
      if (account === undefined) return NO_ACCOUNT;
      // As a Java program casts it: another type than text is an internal error.
      if (typeof second !== 'string') return { error: { code: -32_603, message: 'Internal error' } };
      const { types, ...data } = JSON.parse(second) as TypedDataDefinition;
      return { result: await account.signTypedData({ ...data, types } as TypedDataDefinition) };
    }
    case 'eth_signTransaction': {
      const account = find(first.from);
      if (account === undefined) return NO_ACCOUNT;
      const number = (name: string) => hexToBigInt(first[name]!);
      const fees = { maxFeePerGas: number('maxFeePerGas'), maxPriorityFeePerGas: number('maxPriorityFeePerGas') };
      const fields = { nonce: hexToNumber(first.nonce!), to: first.to!, data: first.data!, value: number('value'), gas: number('gas') };
      return { result: await account.signTransaction({ type: 'eip1559', chainId, ...fields, ...fees }) };
    }
    default:
      return { error: { code: -32_601, message: 'Method not found' } };
  }
}
