import { formatAmount, usdOf } from '../money.ts';
import type { ChannelSums, Difference, Reconciliation, Unclaimed } from './reconcile.ts';

/** Whether every unit that was paid for something is in the ledger, and every unit of the ledger on chain. */
export function isEqual({ differences, underWay }: Pick<Reconciliation, 'differences' | 'underWay'>): boolean {
  return differences.length === 0 && underWay.length === 0;
}

/** What a person reads. */
export function reportText(report: Reconciliation): string {
  const { differences, underWay, unclaimed } = report;
  return [
    heading(report),
    table(report.channels),
    `${dollars(report.receivedMicros)} USD have arrived in all, ${dollars(sum(unclaimed))} of them unclaimed.`,
    ...(unclaimed.length === 0 ? [] : [['Unclaimed, which is nothing wrong:', ...unclaimed.map(unclaimedLine)].join('\n')]),
    ...(underWay.length === 0 ? [] : [['On the way into the ledger:', ...underWay.map(differenceLine)].join('\n')]),
    ...(differences.length === 0 ? [] : [['WRONG:', ...differences.map(differenceLine)].join('\n')]),
    verdict(report),
  ]
    .join('\n\n')
    .concat('\n');
}

/** The same for programs: amounts in units, as digits. */
export function reportJson(report: Reconciliation): string {
  const told = { equal: isEqual(report), ...report };
  return `${JSON.stringify(told, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value), 2)}\n`;
}

function heading({ chainId, fromBlock, toBlock, through, recipients }: Reconciliation): string {
  const range = `Ledger against chain ${chainId}, blocks ${fromBlock} to ${toBlock} (${through.toISOString()})`;
  return [range, ...recipients.map((recipient) => `  payments to ${recipient}`)].join('\n');
}

const COLUMNS = ['channel', 'payments', 'booked, units', 'on chain, units', 'booked, USD'];

function table(channels: readonly ChannelSums[]): string {
  const total = {
    channel: 'all',
    payments: channels.reduce((count, { payments }) => count + payments, 0),
    bookedMicros: channels.reduce((units, { bookedMicros }) => units + bookedMicros, 0n),
    chainMicros: channels.reduce((units, { chainMicros }) => units + chainMicros, 0n),
  };
  const rows = [...channels, total].map(({ channel, payments, bookedMicros, chainMicros }) => [
    ...[channel, String(payments), String(bookedMicros), String(chainMicros), dollars(bookedMicros)],
  ]);
  const widths = COLUMNS.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]) =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!))).join('  ');
  return [COLUMNS, ...rows].map(line).join('\n');
}

function unclaimedLine({ txHash, blockNumber, from, amountMicros }: Unclaimed): string {
  return `  ${dollars(amountMicros)} USD from ${from} in ${txHash}, block ${blockNumber}`;
}

function differenceLine({ kind, channel, txHash, bookedMicros, chainMicros, reason }: Difference): string {
  const units = (amount: bigint | null) => (amount === null ? 'nothing' : `${amount} units`);
  return `  ${kind} ${channel} ${txHash}: booked ${units(bookedMicros)}, on chain ${units(chainMicros)}: ${reason}`;
}

function verdict(report: Reconciliation): string {
  const { differences, underWay } = report;
  if (differences.length > 0) return `NOT EQUAL: ${differences.length} of the above are wrong.`;
  if (underWay.length > 0) return `Not equal yet: ${underWay.length} on the way. Ask again in some minutes.`;
  return 'Equal to the unit.';
}

function dollars(amountMicros: bigint): string {
  return formatAmount(usdOf(amountMicros));
}

function sum(amounts: readonly Unclaimed[]): bigint {
  return amounts.reduce((total, { amountMicros }) => total + amountMicros, 0n);
}
