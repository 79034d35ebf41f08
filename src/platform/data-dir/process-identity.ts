import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * What tells a process from a later one with the same number: when it started, and on Linux since which boot. Undefined
 * when no process with this number runs; one that has ended but is not yet collected by its parent does not run.
 */
export function getProcessIdentity(pid: number): string | undefined {
  try {
    return process.platform === 'linux' ? readProcIdentity(pid) : readPsIdentity(pid);
  } catch {
    return undefined;
  }
}

function readProcIdentity(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command's name, in brackets, may hold spaces and brackets itself; proc(5) numbers the fields from there as 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[22 - 3]];
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return state === 'Z' || state === 'X' ? undefined : `${boot} ${startTicks}`;
}

function readPsIdentity(pid: number): string | undefined {
  // The date is printed in the caller's language and zone.
  const env = { LC_ALL: 'C', TZ: 'UTC' };
  const [state, ...started] = execFileSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', env })
    .trim()
    .split(/\s+/);
  return state === '' || state.startsWith('Z') ? undefined : started.join(' ');
}
