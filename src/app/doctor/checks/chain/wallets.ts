import { type Address, formatEther, formatGwei, isAddressEqual } from 'viem';
import type { Chain } from '../../../../chain/client.ts';
import { chainCall } from '../../../../chain/rpc/chain-call.ts';
import type { WalletRole } from '../../../../chain/tx/wallet.ts';
import type { Check, RoleWallet } from '../../check.ts';
import { type Finding, fail, ok, warn } from '../../finding.ts';

interface Duty {
  /** Gas units of one unit of work, by docs/OPERATE.md. */
  gas: bigint;
  work: string;
  /** Below this many units of work the operator is warned. */
  enough: bigint;
}

/** `npm run bench -- running-costs` measures the first. */
const DUTIES: Record<WalletRole, Duty> = {
  attester: { gas: 2_900_000n, work: 'days', enough: 100n },
  reporter: { gas: 181_000n, work: 'settled wagers', enough: 100n },
  facilitator: { gas: 86_000n, work: 'payments', enough: 100n },
  provider: { gas: 88_000n, work: 'jobs', enough: 20n },
};

/** Roles, funds, and how long they last at the fee of now. */
export const walletsCheck: Check = {
  id: 'wallets',
  title: 'Wallets',
  needs: ['CHAIN_RPC_URL', 'CHAIN_ID'],
  needsTarget: true,
  uses: ['chain'],
  async run({ config, chain, roles: readRoles }) {
    const connected = await chain();
    const roles = await readRoles();
    // A local chain asks for no fee worth counting.
    const gasPrice = config.chainMode === 'real' ? await chainCall('Reading the gas price', () => connected.client.getGasPrice()) : 0n;
    const funds = await Promise.all(roles.map((wallet) => checkFunds(connected, wallet, gasPrice)));
    return [...funds, ...checkPayee(config.PAYEE_ADDRESS, roles)];
  },
};

async function checkFunds({ client }: Chain, { role, address }: RoleWallet, gasPrice: bigint): Promise<Finding> {
  const { gas, work, enough } = DUTIES[role];
  const balance = await chainCall('Reading a balance', () => client.getBalance({ address }));
  const units = gasPrice === 0n ? null : balance / (gas * gasPrice);
  const lasts = units === null ? '' : `: ${units} ${work} at ${formatGwei(gasPrice)} gwei, the fee for data on Ethereum not counted`;
  const detail = `${role} ${address} has ${formatEther(balance)} ether${lasts}`;
  const action = `Send ether on this chain to ${address}.`;
  if (units === 0n || balance === 0n) return fail(detail, { action, isPermanent: role === 'attester' });
  return units !== null && units < enough ? warn(detail, action) : ok(detail);
}

function checkPayee(payee: Address | undefined, roles: readonly RoleWallet[]): Finding[] {
  if (payee === undefined) return [];
  const hot = roles.find(({ address }) => isAddressEqual(address, payee));
  if (hot === undefined) return [ok(`payee ${payee} is none of the wallets whose keys are here`)];
  return [warn(`payee ${payee} is also the ${hot.role}`, 'Set PAYEE_ADDRESS to a wallet whose key is kept elsewhere.')];
}
