import type { Config } from '../platform/config/settings.ts';
import type { Log, LogCounts } from '../platform/log.ts';
import type { Shutdown } from '../platform/shutdown.ts';
import type { StartupProgress } from '../platform/startup/startup-progress.ts';

/** Outlives every part of a process. */
export interface ProcessContext {
  config: Config;
  log: Log;
  shutdown: Shutdown;
}

export interface StartupContext extends ProcessContext {
  progress: StartupProgress;
  logCounts: LogCounts;
}
