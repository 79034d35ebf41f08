import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage } from '../../platform/errors.ts';
import { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';
import { serveEmptyChain } from './empty-chain.ts';

export interface PrivateAnvilOptions extends Pick<AnvilOptions, 'chainId' | 'loadState' | 'onSpawn'> {
  /** Unix seconds of block 0. */
  genesisTimestamp: number;
}

export interface PrivateAnvil extends Omit<Anvil, 'rpcUrl'> {
  /** Unix domain socket, in a folder that only this user can enter. */
  ipcPath: string;
}

/** `EADDRNOTAVAIL` on Linux, and with an apostrophe on macOS. */
const ADDRESS_UNAVAILABLE = /can(no|')t assign requested address/i;

/** It mines on request alone. On a Unix domain socket, which browser pages cannot reach; anvil's own TCP port is bound to an unreachable address where possible. */
export async function startPrivateAnvil({ genesisTimestamp, ...options }: PrivateAnvilOptions): Promise<PrivateAnvil> {
  // A socket path is limited to 104 bytes, which a path below DATA_DIR may exceed.
  const folder = await mkdtemp(join(tmpdir(), 'anvil-'));
  const ipcPath = join(folder, 'rpc');
  const forkUrl = join(folder, 'empty');
  const emptyChain = await serveEmptyChain(forkUrl, genesisTimestamp);
  const release = () => {
    emptyChain.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { rpcUrl: _, ...anvil } = await startOnUnusedAddress({ ...options, ipcPath, forkUrl, extraArguments: ['--no-mining'] });
    void anvil.exited.then(release);
    return { ...anvil, ipcPath };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Linux can listen on the broadcast address, to which nothing connects. Where it cannot be bound (gVisor), one of 16 million loopback
 * addresses and 30,000 ports is used, more than a page can scan. macOS has only 127.0.0.1, where a page that finds the port gets access.
 */
async function startOnUnusedAddress(options: AnvilOptions): Promise<Anvil> {
  const byte = () => randomInt(1, 255);
  for (const host of ['255.255.255.255', `127.${byte()}.${byte()}.${byte()}`]) {
    try {
      return await startAnvil({ ...options, host });
    } catch (error) {
      if (!ADDRESS_UNAVAILABLE.test(getErrorMessage(error))) throw error;
    }
  }
  return startAnvil({ ...options, host: '127.0.0.1' });
}
