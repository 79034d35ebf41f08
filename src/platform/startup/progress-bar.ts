export interface ProgressOptions {
  /** Default: standard error. */
  output?: { isTTY?: boolean; write(text: string): unknown };
  /** Monotonic milliseconds. */
  clock?(): number;
}

const BAR_WIDTH = 30;

export function createProgressBar(
  title: string,
  { output = process.stderr, clock = () => performance.now() }: ProgressOptions = {},
): { update(done: number, total: number, label: string): void; end(): void } {
  const timeLeft = createEstimator(clock);
  let lastTenth = -1;
  let shown = false;

  function bar(done: number, total: number, label: string): string {
    const filled = Math.round((done / total) * BAR_WIDTH);
    return `${title} [${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${done}/${total} ${label}`;
  }

  return {
    update(done, total, label) {
      const line = `${bar(done, total, label)}${timeLeft(done, total)}`;
      if (output.isTTY) {
        output.write(`\r${line}\x1b[K`);
        shown = true;
        return;
      }
      const tenth = Math.floor((10 * done) / total);
      if (tenth > lastTenth) output.write(`${line}\n`);
      lastTenth = tenth;
    },
    end() {
      if (shown) output.write('\n');
    },
  };
}

function createEstimator(clock: () => number): (done: number, total: number) => string {
  let first: { at: number; done: number } | undefined;
  return (done, total) => {
    first ??= { at: clock(), done };
    const steps = done - first.done;
    if (steps <= 0 || done >= total) return '';
    return `, ${formatTimeLeft(((clock() - first.at) / steps) * (total - done))} left`;
  };
}

function formatTimeLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 90 ? `about ${seconds} s` : `about ${Math.round(seconds / 60)} min`;
}
