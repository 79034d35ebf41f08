import { formatAmount, usdFromMicros } from '../money.ts';
import { type ChannelSums, type LedgerDifference, type Reconciliation, sumMicros, type UnclaimedTransfer } from './reconcile.ts';

export function isBalanced({ differences, underWay }: Pick<Reconciliation, 'differences' | 'underWay'>): boolean {
  return differences.length === 0 && underWay.length === 0;
}

export function formatReconciliation(report: Reconciliation): string {
  const { differences, underWay, unclaimed } = report;
  return [
    formatHeading(report),
    formatChannelTable(report.channels),
    `${formatMicros(report.receivedMicros)} USD have arrived in all, ${formatMicros(sumMicros(unclaimed))} of them unclaimed.`,
    ...(unclaimed.length === 0 ? [] : [['Unclaimed, which is nothing wrong:', ...unclaimed.map(formatUnclaimed)].join('\n')]),
    ...(underWay.length === 0 ? [] : [['On the way into the ledger:', ...underWay.map(formatDifference)].join('\n')]),
    ...(differences.length === 0 ? [] : [['WRONG:', ...differences.map(formatDifference)].join('\n')]),
    formatVerdict(report),
  ]
    .join('\n\n')
    .concat('\n');
}

export function serializeReconciliation(report: Reconciliation): string {
  const body = { equal: isBalanced(report), ...report };
  return `${JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value), 2)}\n`;
}

function formatHeading({ chainId, fromBlock, toBlock, through, recipients }: Reconciliation): string {
  const range = `Ledger against chain ${chainId}, blocks ${fromBlock} to ${toBlock} (${through.toISOString()})`;
  return [range, ...recipients.map((recipient) => `  payments to ${recipient}`)].join('\n');
}

const COLUMNS = ['channel', 'payments', 'booked, units', 'on chain, units', 'booked, USD'];

function formatChannelTable(channels: readonly ChannelSums[]): string {
  const total = {
    channel: 'all',
    payments: channels.reduce((count, { payments }) => count + payments, 0),
    bookedMicros: channels.reduce((sum, { bookedMicros }) => sum + bookedMicros, 0n),
    chainMicros: channels.reduce((sum, { chainMicros }) => sum + chainMicros, 0n),
  };
  const rows = [...channels, total].map(({ channel, payments, bookedMicros, chainMicros }) => [
    channel,
    String(payments),
    String(bookedMicros),
    String(chainMicros),
    formatMicros(bookedMicros),
  ]);
  const widths = COLUMNS.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]) =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!))).join('  ');
  return [COLUMNS, ...rows].map(line).join('\n');
}

function formatUnclaimed({ txHash, blockNumber, from, amountMicros }: UnclaimedTransfer): string {
  return `  ${formatMicros(amountMicros)} USD from ${from} in ${txHash}, block ${blockNumber}`;
}

function formatDifference({ kind, channel, txHash, bookedMicros, chainMicros, reason }: LedgerDifference): string {
  const units = (amount: bigint | null) => (amount === null ? 'nothing' : `${amount} units`);
  return `  ${kind} ${channel} ${txHash}: booked ${units(bookedMicros)}, on chain ${units(chainMicros)}: ${reason}`;
}

function formatVerdict(report: Reconciliation): string {
  const { differences, underWay } = report;
  if (differences.length > 0) return `NOT EQUAL: ${differences.length} of the above are wrong.`;
  if (underWay.length > 0) return `Not equal yet: ${underWay.length} on the way. Ask again in some minutes.`;
  return 'Equal to the unit.';
}

function formatMicros(amountMicros: bigint): string {
  return formatAmount(usdFromMicros(amountMicros));
}
