import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage } from '../../platform/errors.ts';
import { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';

export interface PrivateAnvil extends Omit<Anvil, 'rpcUrl'> {
  /** Path of the Unix domain socket that it listens on, in a folder that only this user can enter. */
  ipcPath: string;
}

/** Of Linux: `EADDRNOTAVAIL`; of macOS: the same with an apostrophe. */
const ADDRESS_UNAVAILABLE = /can(no|')t assign requested address/i;

/**
 * Starts anvil on a Unix domain socket, which no page in a browser can reach. Anvil always opens a TCP port too and checks nothing there:
 * it is bound where the system allows it to an address that nothing can connect to.
 * @throws Error with anvil's own words when it ends before it listens.
 */
export async function startPrivateAnvil(options: AnvilOptions): Promise<PrivateAnvil> {
  // A socket's path has 104 bytes at most, which a path below DATA_DIR may exceed.
  const folder = await mkdtemp(join(tmpdir(), 'anvil-'));
  const ipcPath = join(folder, 'rpc');
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  try {
    const { rpcUrl: _, ...anvil } = await startOnUnusedAddress({ ...options, ipcPath });
    void anvil.exited.then(removeFolder);
    return { ...anvil, ipcPath };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

/**
 * Linux listens on the broadcast address and connects nothing to it. Where it may not be bound (gVisor), one of 16 million loopback
 * addresses and 30,000 ports is left, more than a page can try. macOS has 127.0.0.1 alone, where a page that finds the port gets in.
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
