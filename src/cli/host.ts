import type { Address, Hex } from 'viem';
import type { AuditOptions } from '../audit/audit.ts';
import type { AuditCommand, Output } from '../audit/command.ts';

/** A stream that may be a terminal. */
export interface Screen extends Output {
  /** Characters of a line; unset: unknown. */
  columns?: number;
}

/** What `npm start` leaves for whoever wants to try the service on its local chain. */
export interface Demo {
  rpcUrl: string;
  chainId: number;
  contracts: { eas: Address; schemaRegistry: Address; stablecoin: Address };
  wallets: Record<string, { privateKey: Hex }>;
}

/** Where a command runs: everything that it has of the world, so that a test can be one. */
export interface Host {
  out: Screen;
  err: Screen;
  environment: Readonly<Record<string, string | undefined>>;
  /** Of this program. */
  version: string;
  /** Asks the person at the terminal; null: nobody is there. */
  ask: ((question: string) => Promise<string>) | null;
  /** Aborted when the user has had enough; whoever calls it takes Ctrl-C over, which ends the program otherwise. */
  interrupted(): AbortSignal;
  now(): Date;
  /** Where the service of this folder answers; absent outside of one. */
  localUrl?(): string;
  /** The demonstration of this folder. @throws OracleError CONFIG_INVALID where there is none */
  demo?(): Promise<Demo>;
  /** An audit of the service of this folder, where no chain is named. */
  openAudit?(command: AuditCommand): Promise<AuditOptions>;
}
