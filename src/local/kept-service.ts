import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { OracleError } from '../errors.ts';

/** What answers at the address. `up`: it can be asked; `starting`: it will be. */
export type Found = { state: 'nothing' | 'up' | 'stranger' } | { state: 'starting'; detail: string };

export interface KeptServiceOptions {
  /** Where the service answers, or will. */
  url: string;
  /** Looks at the address. */
  look(url: string): Promise<Found>;
  /** Starts it as a child; undefined: it is not to be started from here. */
  start?: () => ChildProcess;
  /** For how long a caller waits for it to come up. */
  patienceMs: number;
  /** A line for the person who started this program. */
  tell(line: string): void;
}

/** The service of this machine: one that runs already, or a child that lives as long as this program. */
export interface KeptService {
  /** Resolves once it can be asked. @throws OracleError STEP_WAITING, SERVICE_UNREACHABLE, CONFIG_INVALID */
  ready(): Promise<void>;
  /** Ends the child, if there is one. */
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 200;
const KILL_AFTER_MS = 20_000;

export function keepService({ url, look, start, patienceMs, tell }: KeptServiceOptions): KeptService {
  const stopping = new AbortController();
  let child: Child | undefined;
  let comingUp: Promise<void> | undefined;
  let detail = 'it has just been started';

  function startIt(): ChildProcess {
    if (start === undefined) throw notThere(url);
    tell(`No service answers at ${url}: starting one.`);
    return start();
  }

  /** Looks until it is up. Whose service it is does not matter: of two programs that start at once, one finds the other's. */
  async function comeUp(): Promise<void> {
    let started = child !== undefined && child.ended === undefined;
    for (;;) {
      // Before it is looked: a child that lost the race for the port has ended because somebody else answers there by now.
      const over = child?.ended;
      const found = await look(url);
      if (found.state === 'up') return;
      if (found.state === 'stranger') throw stranger(url);
      if (found.state === 'starting') detail = found.detail;
      if (found.state === 'nothing' && started && over !== undefined) throw couldNotStart(url, over);
      if (found.state === 'nothing' && !started) {
        child = watch(startIt());
        started = true;
      }
      await delay(LOOK_EVERY_MS, undefined, { signal: stopping.signal });
    }
  }

  return {
    async ready() {
      if (stopping.signal.aborted) throw stopped();
      comingUp ??= comeUp().finally(() => {
        comingUp = undefined;
      });
      const waited = await Promise.race([comingUp, delay(patienceMs, 'waited' as const, { ref: false })]);
      if (waited === 'waited') throw stillStarting(url, detail);
    },
    async stop() {
      stopping.abort(stopped());
      await comingUp?.catch(() => {});
      if (child !== undefined) await end(child);
    },
  };
}

interface Child {
  process: ChildProcess;
  /** How it ended, once it has. */
  ended: string | undefined;
  exited: Promise<void>;
}

/**
 * The service of `module` as a child that ends with this process, however that ends. What it writes goes to our standard error: nothing
 * but the protocol may stand on the other. It leads its own group, so that Ctrl-C reaches this process alone, which then ends it once.
 */
export function forkService(module: URL, environment: Readonly<Record<string, string | undefined>>): ChildProcess {
  return fork(module, [], { detached: true, execArgv: [], env: environment, stdio: ['ignore', 2, 2, 'ipc'] });
}

function watch(process: ChildProcess): Child {
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  const child: Child = { process, ended: undefined, exited };
  const end = (how: string) => {
    child.ended ??= how;
    resolve();
  };
  process.once('error', (error) => end(error.message));
  process.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
  return child;
}

async function end({ process, exited }: Child): Promise<void> {
  process.kill('SIGTERM');
  const killer = setTimeout(() => process.kill('SIGKILL'), KILL_AFTER_MS);
  await exited;
  clearTimeout(killer);
}

function stranger(url: string): OracleError {
  return new OracleError('CONFIG_INVALID', `What answers at ${url} is not this service`, {
    field: 'PORT',
    suggestedAction: 'Set PORT to where the service runs or may run, or name its address by --url or ORACLE_URL.',
  });
}

function notThere(url: string): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `No service answers at ${url}`, {
    suggestedAction: 'Start it with npm start, or name its address by --url or ORACLE_URL.',
  });
}

function couldNotStart(url: string, how: string): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `No service answers at ${url}, and the one that was started has ended (${how})`, {
    suggestedAction: 'Its own words about the cause are on the standard error of this program. The next call starts it again.',
  });
}

function stillStarting(url: string, detail: string): OracleError {
  return new OracleError('STEP_WAITING', `The service at ${url} is starting: ${detail}`, {
    retryAfterSeconds: 10,
    suggestedAction: 'Make the same call again in a moment: the first start replays the past, later ones take seconds.',
  });
}

function stopped(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'This program is stopping');
}
