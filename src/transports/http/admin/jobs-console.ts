/** Operations of the job queue; results are passed to the jobs page unchanged. */
export interface JobsConsole {
  getJobs(filter: JobsFilter): Promise<object>;
  requeueJobs(ids: string[]): Promise<{ requeuedCount: number }>;
  retryJobs(ids: string[]): Promise<{ retriedCount: number }>;
  deleteJobs(ids: string[]): Promise<{ deletedCount?: number }>;
  pauseJobs(ids: string[]): Promise<{ pausedCount: number }>;
  resumeJobs(ids: string[]): Promise<{ resumedCount: number }>;
}

interface JobsFilter {
  name?: string | undefined;
  state?: string | undefined;
  search?: string | undefined;
  skip: number;
  limit: number;
}

/** Data of the jobs page: the queue is shared by all processes, the running jobs are those of this process. */
export interface JobsSource {
  /** Opened on first use. */
  console(): Promise<JobsConsole>;
  /** Absolute path of the static files. */
  files: string;
  /** Running and waiting jobs; null where this process runs none. */
  running(fullDetails: boolean): Promise<object | null>;
}
