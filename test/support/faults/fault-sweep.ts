import { getErrorMessage } from '../../../src/errors.ts';
import type { MongoFault, MongoFaultProxy } from './mongo-fault-proxy.ts';
import type { WireCommand } from './wire-frames.ts';

const WRITE_COMMANDS = new Set(['insert', 'update', 'delete', 'findAndModify']);

export const isWrite = ({ name }: WireCommand) => WRITE_COMMANDS.has(name);

export const changesDatabase = (command: WireCommand) => isWrite(command) || command.name === 'createIndexes';

export interface FaultPoint {
  fault: MongoFault;
  /** Ordinal of the write, from 1. */
  write: number;
  /** The write that met the fault, e.g. `insert sessions`; null when the scenario ended before. */
  hit: string | null;
}

export interface SweepOptions<Outcome> {
  /** Names the scenario in the printed line. */
  name: string;
  proxy: MongoFaultProxy;
  faults?: readonly MongoFault[];
  /** Which commands count; default: all writes. */
  counts?: (command: WireCommand) => boolean;
  /** Every nth write only; default: all. */
  step?: number;
  /** So many runs in a row that end before their fault end the sweep; default: 1, for scenarios of always the same writes. */
  patience?: number;
  /** Without faults, before each run. */
  prepare?(): Promise<void>;
  /** Runs once for each point; the fault is met by its nth write. */
  scenario(point: FaultPoint): Promise<Outcome>;
  /** Without faults, after each run. */
  check?(outcome: Outcome): Promise<void>;
}

/** Runs a scenario once for each of its writes and each fault, until a run ends before its fault, and returns what was hit. */
export async function sweepWrites<Outcome>(options: SweepOptions<Outcome>): Promise<FaultPoint[]> {
  const { name, proxy, faults = ['cut-before', 'cut-after'], counts = isWrite, step = 1, patience = 1, prepare, scenario, check } = options;
  const points: FaultPoint[] = [];
  for (const fault of faults) {
    for (let write = 1, missed = 0; missed < patience; write += step) {
      const point: FaultPoint = { fault, write, hit: null };
      try {
        await prepare?.();
        planNthWrite(proxy, point, counts);
        const outcome = await scenario(point);
        proxy.plan(null);
        await check?.(outcome);
      } catch (cause) {
        throw new Error(`${name}, after ${JSON.stringify(point)}: ${getErrorMessage(cause)}`, { cause });
      }
      missed = point.hit === null ? missed + 1 : 0;
      if (point.hit !== null) points.push(point);
    }
  }
  process.stdout.write(`${name}: ${points.length} faults (${formatCounts(points.map(({ fault }) => formatFault(fault)))})\n`);
  process.stdout.write(`  ${formatCounts(points.map(({ hit }) => hit!))}\n`);
  return points;
}

/** The nth write from now on meets the fault, once. */
export function planNthWrite(proxy: MongoFaultProxy, point: FaultPoint, counts: (command: WireCommand) => boolean = isWrite): FaultPoint {
  let count = 0;
  proxy.plan((command) => {
    if (point.hit !== null || !counts(command)) return null;
    count += 1;
    if (count < point.write) return null;
    point.hit = `${command.name} ${command.collection}`;
    return point.fault;
  });
  return point;
}

function formatFault(fault: MongoFault): string {
  if (typeof fault === 'string') return fault;
  return 'reply' in fault ? fault.reply.codeName : `delay of ${fault.delayMs} ms`;
}

function formatCounts(items: readonly string[]): string {
  return [...Map.groupBy(items, (item) => item)].map(([item, { length }]) => `${item} ${length}`).join(', ');
}
