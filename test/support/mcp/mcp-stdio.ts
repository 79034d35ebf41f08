import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { filterChildEnvironment } from '../../../src/platform/child-process.ts';

export const MCP_BIN = resolve(import.meta.dirname, '../../../bin/mcp.mjs');

export const SVC_BIN = resolve(import.meta.dirname, '../../../bin/svc.mjs');

export interface StdioSession {
  client: Client;
  pid: number;
  /** Everything it has written to standard error so far. */
  stderr(): string;
}

export interface StdioOptions {
  words?: string[];
  environment?: Record<string, string>;
  cwd?: string;
  bin?: string;
  /** How the client finds its revision; default: as before 2026-07-28. */
  mode?: 'auto' | 'legacy';
}

/** A session of the official client with `bin/mcp.mjs` as a process of its own. */
export async function openStdio({ words = [], environment = {}, cwd, bin = MCP_BIN, mode }: StdioOptions): Promise<StdioSession> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, ...words],
    env: { ...filterChildEnvironment(), ...environment },
    ...(cwd === undefined ? {} : { cwd }),
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr!.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const client = new Client({ name: 'tests', version: '1.0.0' }, mode === undefined ? {} : { versionNegotiation: { mode } });
  await client.connect(transport);
  return { client, pid: transport.pid!, stderr: () => stderr };
}

/** A process, its children, and theirs. */
export function familyOf(pid: number): number[] {
  const parents = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const family = [pid];
  for (const member of family) family.push(...parents.filter(([, parent]) => parent === member).map(([child]) => child));
  return family;
}

/** The environment that a process was started with; Linux only. */
export function environmentOf(pid: number): string {
  return readFileSync(`/proc/${pid}/environ`, 'utf8');
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
