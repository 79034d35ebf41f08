import type { ReadOnlyRpc } from './read-only-rpc.ts';

/** How strangers read the chain that the record is on. */
export interface RpcAccess {
  /** Where this service runs the chain itself and reads it for them; null where the chain is somebody else's. */
  rpc: ReadOnlyRpc | null;
  /** JSON-RPC endpoint to give them; null where none is known. */
  rpcUrl: string | null;
}
