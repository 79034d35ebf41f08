import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Shutdown } from '../shutdown.ts';

/** What outlives every part of a process. */
export interface Frame {
  config: Config;
  log: Log;
  shutdown: Shutdown;
}
