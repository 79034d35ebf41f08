/** The job queue as the page of the operator shows it; what it answers is that page's own, and goes out as it is. */
export interface JobsConsole {
  getJobs(filter: JobsFilter): Promise<object>;
  requeueJobs(ids: string[]): Promise<{ requeuedCount: number }>;
  retryJobs(ids: string[]): Promise<{ retriedCount: number }>;
  deleteJobs(ids: string[]): Promise<{ deletedCount?: number }>;
  pauseJobs(ids: string[]): Promise<{ pausedCount: number }>;
  resumeJobs(ids: string[]): Promise<{ resumedCount: number }>;
}

export interface JobsFilter {
  name?: string | undefined;
  state?: string | undefined;
  search?: string | undefined;
  skip: number;
  limit: number;
}

/** Where the page comes from: the queue, which any process can show, and the runs of this one. */
export interface JobsSource {
  /** Opened when it is first asked for. */
  console(): Promise<JobsConsole>;
  /** Files of the page, an absolute path. */
  files: string;
  /** What runs and waits in this process; null where it runs no jobs. */
  running(fullDetails: boolean): Promise<object | null>;
}
