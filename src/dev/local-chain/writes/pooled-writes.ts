import { keccak_256 } from '@noble/hashes/sha3.js';
import type { NodeSocket } from '../rpc/node-socket.ts';
import type { ChainWrite, WriteLog } from './write-log.ts';

interface PooledTransaction {
  hash: string;
  from: string;
  nonce: string;
}

type PoolContent = Record<'pending' | 'queued', Record<string, Record<string, PooledTransaction>>>;

/**
 * Logs the transactions again that wait in the node's pool for earlier nonces, since a saved state has no pool. Without a block time, as they
 * make no block. A restored node that knows one already rejects the repetition. @param height of the state that is saved next
 */
export async function logPooledWrites({ call }: Pick<NodeSocket, 'call'>, log: WriteLog, height: number): Promise<void> {
  const isPooled = createPoolFilter(await readPool(call));
  if (isPooled === null) return;
  const writes = (await log.readWrites()).filter(isPooled);
  const repeated = new Set(writes.filter((write) => write.height === height).map(formatCall));
  for (const { method, params } of writes) {
    const write = { method, params, height };
    if (repeated.has(formatCall(write))) continue;
    repeated.add(formatCall(write));
    await log.append(write);
  }
}

async function readPool(call: NodeSocket['call']): Promise<PooledTransaction[]> {
  const { queued, pending } = (await call('txpool_content')).result as PoolContent;
  return [pending, queued].flatMap((bySender) => Object.values(bySender).flatMap((byNonce) => Object.values(byNonce)));
}

/** Null for an empty pool. */
function createPoolFilter(pool: readonly PooledTransaction[]): ((write: ChainWrite) => boolean) | null {
  if (pool.length === 0) return null;
  const hashes = new Set(pool.map(({ hash }) => hash.toLowerCase()));
  const nonces = new Set(pool.map(formatNonce));
  return ({ method, params: [sent] }) => {
    if (method === 'eth_sendRawTransaction') return hashes.has(hashTransaction(sent as string));
    return method === 'eth_sendTransaction' && nonces.has(formatNonce(sent as PooledTransaction));
  };
}

/** Without viem, whose 350 modules the host would load at each start for this alone. */
const hashTransaction = (raw: string) => `0x${Buffer.from(keccak_256(Buffer.from(raw.slice(2), 'hex'))).toString('hex')}`;

const formatNonce = ({ from, nonce }: PooledTransaction) => `${from?.toLowerCase()} ${Number(nonce)}`;

const formatCall = ({ method, params }: Pick<ChainWrite, 'method' | 'params'>) => JSON.stringify([method, params]);
