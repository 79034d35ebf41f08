import { chmod, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Address, Hex } from 'viem';
import { z } from 'zod';
import type { AuditOptions } from '../../audit/audit.ts';
import { getErrorMessage, OracleError } from '../../errors.ts';
import { makeFolder } from '../../platform/secrets.ts';
import type { AuditCommand, AuditOutput } from './audit-options.ts';
import type { CommandSyntax } from './command-line.ts';

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
  localUrl?(): Promise<string>;
  /** @throws OracleError CONFIG_INVALID when the data folder has no demo deployment */
  demo?(): Promise<DemoDeployment>;
  /** Options of an audit of the service of this folder, for calls without `--rpc`. */
  openAudit?(command: AuditCommand): Promise<AuditOptions>;
  /** Examines the service of this folder with the options of `npm run doctor`; resolves to the exit code. */
  runDoctor?(args: readonly string[], out: TerminalOutput): Promise<number>;
}

/** What a command of `svc` accepts and does. `Values` are its parsed options by camel-case name. */
export interface SvcCommand<Values extends object = object> extends Omit<CommandSyntax, 'name' | 'summary'> {
  /** @returns the exit code @throws UsageError, OracleError */
  run(context: CliContext, values: Values, positionals: readonly string[]): Promise<number>;
}

/** A line of the list of commands, which loads nothing of them. */
export interface CommandEntry extends Pick<CommandSyntax, 'name' | 'summary'> {
  load(): Promise<SvcCommand>;
}

/** @param load of the module that exports `<name>Command` */
export function listCommand<Name extends string>(
  name: Name,
  summary: string,
  load: () => Promise<Record<`${Name}Command`, SvcCommand>>,
): CommandEntry {
  return { name, summary, load: async () => (await load())[`${name}Command` as const] };
}

export const EXIT = {
  ok: 0,
  failed: 1,
  misused: 2,
  /** No check failed, and at least one could not be made. */
  incomplete: 3,
} as const;

const SESSION = z.object({
  token: z.string(),
  wallet: z.string(),
  tier: z.enum(['basic', 'premium']),
  expiresAt: z.iso.datetime(),
});
const FILE = z.record(z.string(), SESSION);

export type StoredSession = z.infer<typeof SESSION>;

export function getSessionsFile(context: CliContext): string {
  return join(getConfigFolder(context), 'sessions.json');
}

/** The unexpired session with a service, or null. */
export async function readSession(context: CliContext, url: string): Promise<StoredSession | null> {
  return (await readLiveSessions(context))[url] ?? null;
}

export async function readLiveSessions(context: CliContext): Promise<Record<string, StoredSession>> {
  const { data = {} } = FILE.safeParse(await readJsonFile(getSessionsFile(context)));
  const now = context.now().getTime();
  return Object.fromEntries(Object.entries(data).filter(([, { expiresAt }]) => Date.parse(expiresAt) > now));
}

/** $XDG_CONFIG_HOME/bitcoin-signal-oracle, with the default of the XDG Base Directory Specification. */
export function getConfigFolder({ environment }: Pick<CliContext, 'environment'>): string {
  const { XDG_CONFIG_HOME: named = '', HOME: home = '' } = environment;
  // The specification ignores relative paths.
  const base = isAbsolute(named) ? named : join(home === '' ? homedir() : home, '.config');
  return join(base, 'bitcoin-signal-oracle');
}

/** Undefined when the file is missing or not JSON. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Writes a file with mode 0600, atomically. @throws OracleError CONFIG_INVALID */
export async function writePrivateFile(path: string, value: unknown): Promise<void> {
  await writeThroughDraft(path, value, (draft) => rename(draft, path));
}

/** Like `writePrivateFile` for a new file. @returns false when it exists @throws OracleError CONFIG_INVALID */
export async function createPrivateFile(path: string, value: unknown): Promise<boolean> {
  try {
    await writeThroughDraft(path, value, (draft) => link(draft, path));
    return true;
  } catch (error) {
    if (((error as OracleError).cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function writeThroughDraft(path: string, value: unknown, put: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    await makeFolder(dirname(path));
    await chmod(dirname(path), 0o700);
    await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    await put(draft);
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `${path} cannot be written: ${getErrorMessage(cause)}`, {
      field: 'XDG_CONFIG_HOME',
      suggestedAction: 'Set XDG_CONFIG_HOME to a writable folder.',
      cause,
    });
  } finally {
    await rm(draft, { force: true });
  }
}

const EXIT_INTERRUPTED = 130;

/** What the process does not know by itself. */
export type TerminalEnvironment = Pick<CliContext, 'environment' | 'version' | 'localUrl' | 'demo' | 'openAudit' | 'runDoctor'>;

/** The streams, signals and clock of this process. */
export function createTerminalContext(environment: TerminalEnvironment): CliContext {
  const { stdin, stdout, stderr } = process;
  return {
    ...environment,
    input: stdin,
    out: stdout,
    err: stderr,
    createInterruptSignal,
    now: () => new Date(),
    prompt: stdin.isTTY && stderr.isTTY ? promptUser : null,
  };
}

function createInterruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
      controller.abort();
    });
  }
  return AbortSignal.any([controller.signal, stdoutClosed.signal]);
}

/** Prompts on standard error, since standard output may be redirected into a file. */
async function promptUser(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => process.exit(EXIT_INTERRUPTED));
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(question), closed]);
  terminal.close();
  return answer;
}

/** Aborted when the reader of standard output closes its end. */
const stdoutClosed = new AbortController();

/** EPIPE (`| head`) must not end the process: the exit code still carries the result, and a payment must not be cut off. */
export function handleBrokenPipes(): void {
  const unlessClosed = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
  };
  process.stderr.on('error', unlessClosed);
  process.stdout.on('error', (error) => {
    unlessClosed(error);
    stdoutClosed.abort();
  });
}
