import { readdirSync, readFileSync } from 'node:fs';

/** Linux: the processes that a process has started, and those that they have, itself first. */
export function listProcessTree(root: number): number[] {
  const parents = readParents();
  const tree = [root];
  for (const pid of tree) tree.push(...[...parents].filter(([, parent]) => parent === pid).map(([child]) => child));
  return tree;
}

/** All at once: no process has the time to see that another one has ended. */
export function killProcessTree(root: number): void {
  for (const pid of listProcessTree(root)) process.kill(pid, 'SIGKILL');
}

function readParents(): Map<number, number> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return new Map(pids.flatMap((pid) => readParent(pid)));
}

/** None for a process that has ended meanwhile. */
function readParent(pid: string): [number, number][] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name, in brackets, may contain spaces; then come state and parent.
    return [[Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]];
  } catch {
    return [];
  }
}
