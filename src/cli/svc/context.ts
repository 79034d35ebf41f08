import type { Address, Hex } from 'viem';
import type { AuditOptions } from '../../audit/audit.ts';
import type { AuditCommand, AuditOutput } from '../../audit/command/run-audit.ts';

/** A stream that may be a terminal. */
export interface TerminalOutput extends AuditOutput {
  /** Characters of a line; unset: unknown. */
  columns?: number;
}

/** What `npm start` leaves for whoever wants to try the service on its local chain. */
export interface DemoDeployment {
  rpcUrl: string;
  chainId: number;
  contracts: { eas: Address; schemaRegistry: Address; stablecoin: Address };
  wallets: Record<string, { privateKey: Hex }>;
}

/** Where a command runs: everything that it has of the world, so that a test can be one. */
export interface CliContext {
  out: TerminalOutput;
  err: TerminalOutput;
  environment: Readonly<Record<string, string | undefined>>;
  /** Of this program. */
  version: string;
  /** Asks the person at the terminal; null: nobody is there. */
  prompt: ((question: string) => Promise<string>) | null;
  /** Aborted when the user has had enough; whoever calls it takes Ctrl-C over, which ends the program otherwise. */
  createInterruptSignal(): AbortSignal;
  now(): Date;
  /** Where the service of this folder answers; absent outside of one. */
  localUrl?(): string;
  /** The demonstration of this folder. @throws OracleError CONFIG_INVALID where there is none */
  demo?(): Promise<DemoDeployment>;
  /** An audit of the service of this folder, where no chain is named. */
  openAudit?(command: AuditCommand): Promise<AuditOptions>;
}
