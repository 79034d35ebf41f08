import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Setup } from '../setup.ts';
import type { Shutdown } from '../shutdown.ts';

/** What outlives every part of a process. */
export interface Frame {
  config: Config;
  log: Log;
  shutdown: Shutdown;
}

/** The same while the process starts. */
export interface StartFrame extends Frame {
  /** How far it has come. */
  setup: Setup;
}
