import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** What a process and all its descendants have used so far. */
export interface Usage {
  cpuSeconds: number;
  residentMb: number;
}

/** What work on a process tree has cost, less what the tree uses at rest. */
export interface Cost {
  cpuSeconds: number;
  /** The peak of resident memory and of the kernel's TCP buffers above what they were before. */
  peakMb: number;
}

/** Linux counts CPU time in hundredths of a second for user space (`USER_HZ`). */
const TICKS_A_SECOND = 100;
const PAGE_BYTES = 4_096;
const SAMPLE_MS = 50;
const REST_MS = 3_000;
/** CPU of a service at rest is below this share of one core. */
const STARTED_SHARE = 0.1;
const SETTLE_MS = 500;
/** CPU above the tree's rest, as a share of one core, below which work counts as over. */
const SETTLED_SHARE = 0.05;
const MAX_SETTLE_MS = 60_000;

interface ProcessStat extends Usage {
  pid: number;
  parent: number;
}

/** Usage of a process tree by `/proc`. @throws Error where there is none, on other systems than Linux */
export function usageOf(root: number): Usage {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readStat(Number(name)) ?? []) : []));
  const tree = new Set([root]);
  // A child may have a lower number than its parent once numbers wrap, so that one pass is not enough.
  for (let size = 0; size !== tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  const own = all.filter(({ pid }) => tree.has(pid));
  const sum = (key: keyof Usage) => own.reduce((total, stat) => total + stat[key], 0);
  return { cpuSeconds: sum('cpuSeconds'), residentMb: sum('residentMb') };
}

/** Null for a process that has ended meanwhile. Fields as in proc(5), counted behind the name, which may hold blanks. */
function readStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [userTicks, systemTicks, pages] = [fields[11], fields[12], fields[21]];
    return { pid, parent: fields[1], cpuSeconds: (userTicks + systemTicks) / TICKS_A_SECOND, residentMb: (pages * PAGE_BYTES) / 1e6 };
  } catch {
    return null;
  }
}

/** Bytes in TCP buffers of the whole machine: both ends of a loopback connection are in it. */
function tcpMb(): number {
  const pages = Number(/^TCP:.* mem (\d+)/m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1] ?? 0);
  return (pages * PAGE_BYTES) / 1e6;
}

/** CPU seconds a second that a process tree uses while no request is sent, once the work that follows a start is over. */
export async function restShare(root: number): Promise<number> {
  const deadline = performance.now() + MAX_SETTLE_MS;
  for (;;) {
    const before = usageOf(root).cpuSeconds;
    await delay(REST_MS);
    const share = (usageOf(root).cpuSeconds - before) / (REST_MS / 1_000);
    if (share < STARTED_SHARE || performance.now() > deadline) return share;
  }
}

/** Runs work and waits until the process tree rests again. @param rest of `restShare` */
export async function costOf(root: number, rest: number, work: () => Promise<void>): Promise<Cost> {
  const before = usageOf(root);
  const heldBefore = before.residentMb + tcpMb();
  let peakMb = 0;
  const sample = () => {
    peakMb = Math.max(peakMb, usageOf(root).residentMb + tcpMb() - heldBefore);
  };
  const began = performance.now();
  const timer = setInterval(sample, SAMPLE_MS);
  try {
    await work();
    await untilSettled(root, rest);
  } finally {
    clearInterval(timer);
  }
  sample();
  const seconds = (performance.now() - began) / 1_000;
  return { cpuSeconds: Math.max(0, usageOf(root).cpuSeconds - before.cpuSeconds - rest * seconds), peakMb };
}

async function untilSettled(root: number, rest: number): Promise<void> {
  const deadline = performance.now() + MAX_SETTLE_MS;
  while (performance.now() < deadline) {
    const before = usageOf(root).cpuSeconds;
    await delay(SETTLE_MS);
    if ((usageOf(root).cpuSeconds - before) / (SETTLE_MS / 1_000) - rest < SETTLED_SHARE) return;
  }
}
