import type { Config } from '../platform/config/settings.ts';
import type { Log } from '../platform/log.ts';
import type { Shutdown } from '../platform/shutdown.ts';
import type { StartupProgress } from '../platform/startup-progress.ts';

/** What outlives every part of a process. */
export interface ProcessContext {
  config: Config;
  log: Log;
  shutdown: Shutdown;
}

/** The same while the process starts. */
export interface StartupContext extends ProcessContext {
  /** How far it has come. */
  progress: StartupProgress;
}
