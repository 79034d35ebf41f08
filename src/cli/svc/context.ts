import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Address, Hex } from 'viem';
import type { AuditOptions } from '../../audit/audit.ts';
import type { AuditCommand, AuditOutput } from '../../audit/command/run-audit.ts';

export interface TerminalOutput extends AuditOutput {
  /** Characters a line; unset: unknown. */
  columns?: number;
}

export interface DemoDeployment {
  rpcUrl: string;
  chainId: number;
  contracts: { eas: Address; schemaRegistry: Address; stablecoin: Address };
  wallets: Record<string, { privateKey: Hex }>;
}

/** Everything that a command uses of its process, so that a test can replace it. */
export interface CliContext {
  out: TerminalOutput;
  err: TerminalOutput;
  environment: Readonly<Record<string, string | undefined>>;
  version: string;
  /** The command line has `--json`: errors and notices are JSON, too. Set by `runCli`. */
  json?: boolean;
  /** Standard input, for a command that a program talks to. */
  input?: Readable;
  /** Asks the user; null when standard input or error is not a terminal. */
  prompt: ((question: string) => Promise<string>) | null;
  /** Aborted on SIGINT or SIGTERM. The caller takes over the handling of both signals, which end the process otherwise. */
  createInterruptSignal(): AbortSignal;
  now(): Date;
  /** This program with all its commands, options and arguments. Set by `runCli`. */
  loadProgram?(): Promise<Command>;
  localUrl?(): Promise<string>;
  /** @throws OracleError CONFIG_INVALID when the data folder has no demo deployment */
  demo?(): Promise<DemoDeployment>;
  /** Options of an audit of the service of this folder, for calls without `--rpc`. */
  openAudit?(command: AuditCommand): Promise<AuditOptions>;
  /** Examines the service of this folder with the options of `npm run doctor`; resolves to the exit code. */
  runDoctor?(args: readonly string[], out: TerminalOutput): Promise<number>;
}
