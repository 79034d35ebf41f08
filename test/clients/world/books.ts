import { createPublicClient, erc20Abi, formatUnits, getAbiItem, http } from 'viem';
import { spawnNode } from '../../support/service/service.ts';
import type { World } from './world.ts';

/** One sum of the money that was paid, in units of the stablecoin, and the number of payments it has. */
interface Sum {
  of: string;
  units: bigint;
  payments?: number;
}

export interface Books {
  lines: string[];
  equal: boolean;
}

/** Ledger, chain, receipts and wallets of the payers, each from its own source. */
export async function compareBooks(world: World): Promise<Books> {
  const { code, output } = await reconcile(world);
  const sums = [sumLedger(output), await sumTransfers(world), sumReceipts(world), await sumWallets(world)];
  const [{ units, payments }] = sums;
  const equal = code === 0 && sums.every((sum) => sum.units === units && (sum.payments ?? payments) === payments);
  return {
    equal,
    lines: [
      `npm run reconcile: exit ${code}`,
      ...sums.map(
        (sum) => `${sum.of}: ${formatUnits(sum.units, 6)} USDC${sum.payments === undefined ? '' : ` in ${sum.payments} payments`}`,
      ),
      equal ? 'Equal to the unit.' : 'NOT EQUAL.',
    ],
  };
}

function reconcile({ dataDir }: World) {
  return spawnNode(['bin/reconcile.mjs', '--json'], { DATA_DIR: dataDir, FEEDS: 'simulated' }).ended;
}

function sumLedger(report: string): Sum {
  const { channels } = JSON.parse(report) as { channels: { bookedMicros: string; payments: number }[] };
  const units = channels.reduce((sum, { bookedMicros }) => sum + BigInt(bookedMicros), 0n);
  return { of: 'ledger', units, payments: channels.reduce((sum, { payments }) => sum + payments, 0) };
}

/** The stablecoin's own events, over all blocks. */
async function sumTransfers({ demo, seller }: World): Promise<Sum> {
  const chain = createPublicClient({ transport: http(demo.rpcUrl) });
  const event = getAbiItem({ abi: erc20Abi, name: 'Transfer' });
  const logs = await chain.getLogs({ address: demo.contracts.stablecoin, event, args: { to: seller }, fromBlock: 0n, strict: true });
  return { of: 'chain, transfers to the payee', units: logs.reduce((sum, { args }) => sum + args.value, 0n), payments: logs.length };
}

function sumReceipts({ sales }: World): Sum {
  const byHash = new Map(sales.map(({ txHash, units }) => [txHash, units]));
  return {
    of: 'receipts of both kinds, and feedback files',
    units: [...byHash.values()].reduce((sum, units) => sum + units, 0n),
    payments: byHash.size,
  };
}

/** What the wallets of all runs are short of, those of rejected payments included. */
async function sumWallets({ payers, balanceOf }: World): Promise<Sum> {
  let units = 0n;
  for (const { address, funds } of payers) units += funds - (await balanceOf(address));
  return { of: 'wallets of the payers', units };
}
