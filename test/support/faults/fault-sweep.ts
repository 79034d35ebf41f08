import type { MongoFault, MongoFaultProxy } from './mongo-fault-proxy.ts';
import type { WireCommand } from './wire-frames.ts';

const WRITE_COMMANDS = new Set(['insert', 'update', 'delete', 'findAndModify']);

export const isWrite = ({ name }: WireCommand) => WRITE_COMMANDS.has(name);

export interface FaultPoint {
  fault: MongoFault;
  /** Ordinal of the write, from 1. */
  write: number;
  /** The write that met the fault, e.g. `insert sessions`; null when the scenario ended before. */
  hit: string | null;
}

export interface SweepOptions {
  /** Names the scenario in the printed line. */
  name: string;
  proxy: MongoFaultProxy;
  faults?: readonly MongoFault[];
  /** Every nth write only; default: all. */
  step?: number;
  /** Runs once for each point; the fault is met by its nth write. */
  scenario(point: FaultPoint): Promise<void>;
}

/** Runs a scenario once for each of its writes and each fault, until a run ends before its fault, and returns what was hit. */
export async function sweepWrites(options: SweepOptions): Promise<FaultPoint[]> {
  const { name, proxy, faults = ['cut-before', 'cut-after'], step = 1, scenario } = options;
  const points: FaultPoint[] = [];
  for (const fault of faults) {
    for (let write = 1; ; write += step) {
      const point = planNthWrite(proxy, { fault, write, hit: null });
      await scenario(point);
      proxy.plan(null);
      if (point.hit === null) break;
      points.push(point);
    }
  }
  process.stdout.write(`${name}: ${points.length} faults (${formatCounts(points.map(({ fault }) => formatFault(fault)))})\n`);
  process.stdout.write(`  ${formatCounts(points.map(({ hit }) => hit!))}\n`);
  return points;
}

/** The nth write from now on meets the fault, once. */
export function planNthWrite(proxy: MongoFaultProxy, point: FaultPoint): FaultPoint {
  let count = 0;
  proxy.plan((command) => {
    if (point.hit !== null || !isWrite(command)) return null;
    count += 1;
    if (count < point.write) return null;
    point.hit = `${command.name} ${command.collection}`;
    return point.fault;
  });
  return point;
}

function formatFault(fault: MongoFault): string {
  return typeof fault === 'string' ? fault : JSON.stringify(fault);
}

function formatCounts(items: readonly string[]): string {
  return [...Map.groupBy(items, (item) => item)].map(([item, { length }]) => `${item} ${length}`).join(', ');
}
