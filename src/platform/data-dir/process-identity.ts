import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Start time, and boot id on Linux: differs from that of a later process with the same pid. Undefined if none runs; zombies do not. */
export function getProcessIdentity(pid: number): string | undefined {
  try {
    return process.platform === 'linux' ? readProcIdentity(pid) : readPsIdentity(pid);
  } catch {
    return undefined;
  }
}

function readProcIdentity(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The bracketed command name may contain spaces and brackets; proc(5) counts the next field as 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[22 - 3]];
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return state === 'Z' || state === 'X' ? undefined : `${boot} ${startTicks}`;
}

function readPsIdentity(pid: number): string | undefined {
  // `ps` prints dates in the user's locale and time zone.
  const env = { LC_ALL: 'C', TZ: 'UTC' };
  const [state, ...started] = execFileSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', env })
    .trim()
    .split(/\s+/);
  return state === '' || state.startsWith('Z') ? undefined : started.join(' ');
}
