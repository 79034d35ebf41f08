import { callJsonRpc } from '../../../../src/dev/local-chain/contracts.ts';
import { startLocalChain } from '../../../../src/dev/local-chain/local-chain.ts';

/** A process that starts a chain in the given folder, mines three blocks, reports it, and waits to be killed. */
process.once('message', async (stateDir: string) => {
  const chain = await startLocalChain({ stateDir });
  for (let block = 0; block < 3; block += 1) await callJsonRpc(chain.rpcUrl, 'evm_mine');
  process.send!({ host: chain.pid });
});
